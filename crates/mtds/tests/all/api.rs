//! The public interface of the library, item by item, beside the listing that is committed: a change of it shows in the diff.
//!
//! ```text
//! src/lib.rs ─ pub mod, pub use ─→ items that can be reached ─→ one line each: path, what it is, its public parts
//! ```
//! `MTDS_WRITE_API=1 cargo test -p mtds --test all api::` writes the listing anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, Meta, TraitItem, UseTree, Visibility};

/// Where the listing is kept.
const LISTING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/api.txt");
/// Most names beside those in `custom` and `parts`: a person can keep so many in mind.
const MOST_NAMES: usize = 70;
/// Most names in `parts`: it may lose some, and gains one only where another goes.
const MOST_PARTS: usize = 180;

/// A module with all that it declares, private items included.
#[derive(Default)]
struct Module {
    items: Vec<Item>,
    modules: BTreeMap<String, (bool, Module)>,
}

#[test]
fn the_public_interface_is_the_listed_one() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = read_module(&source.join("lib.rs"), &source);
    let mut found = Listing { root: &root, lines: BTreeSet::new(), names: BTreeMap::new() };
    found.walk(&[], "mtds");
    found.add_implementations(&root);
    let text: String = found.lines.iter().map(|line| format!("{line}\n")).collect();
    if std::env::var_os("MTDS_WRITE_API").is_some() {
        fs::write(LISTING, &text).unwrap();
    }
    let kept = fs::read_to_string(LISTING).unwrap_or_default();
    let (old, new): (BTreeSet<_>, BTreeSet<_>) = (kept.lines().collect(), text.lines().collect());
    let gone: Vec<_> = old.difference(&new).map(|line| format!("- {line}")).collect();
    let come: Vec<_> = new.difference(&old).map(|line| format!("+ {line}")).collect();
    assert!(
        gone.is_empty() && come.is_empty(),
        "the public interface has changed; if that is meant: MTDS_WRITE_API=1 cargo test -p mtds --test all api::\n{}\n{}",
        gone.join("\n"),
        come.join("\n"),
    );
    let below = |module: &str| found.names.values().flatten().filter(|path| path.starts_with(module)).count();
    let (all, custom, parts) = (below("mtds::"), below("mtds::custom::"), below("mtds::parts::"));
    let front = all - custom - parts;
    println!("{front} public names, {custom} for a base model of one's own, {parts} parts");
    assert!(front <= MOST_NAMES, "{front} public names, at most {MOST_NAMES} are to be kept in mind");
    assert!(parts <= MOST_PARTS, "{parts} parts, at most {MOST_PARTS}");
}

/// What can be reached from outside.
struct Listing<'m> {
    root: &'m Module,
    lines: BTreeSet<String>,
    /// Paths of each type by its own name, for its methods.
    names: BTreeMap<String, BTreeSet<String>>,
}

impl Listing<'_> {
    /// Lists what is public in the module at `place`, under `path`.
    fn walk(&mut self, place: &[String], path: &str) {
        let module = module_at(self.root, place).unwrap_or_else(|| panic!("{path}: no module at {place:?}"));
        for (name, (is_public, _)) in &module.modules {
            if *is_public {
                self.walk(&[place, std::slice::from_ref(name)].concat(), &format!("{path}::{name}"));
            }
        }
        for item in &module.items {
            match item {
                Item::Use(item) if is_public(&item.vis) => {
                    let mut leaves = vec![];
                    leaves_of(&item.tree, &mut vec![], &mut leaves);
                    leaves.into_iter().for_each(|(from, name)| self.follow(place, &from, path, &name));
                }
                item => {
                    if let Some(name) = public_name(item) {
                        self.add(item, path, &name);
                    }
                }
            }
        }
    }

    /// Lists what `pub use from as name` in the module at `place` shows under `path`.
    fn follow(&mut self, place: &[String], from: &[String], path: &str, name: &str) {
        let (place, own) = self.resolve(place, from);
        let module = module_at(self.root, &place).unwrap_or_else(|| panic!("{path}::{name}: {from:?}"));
        if own == "*" {
            return self.walk(&place, path);
        }
        // A private module hides behind a function of the same name.
        if module.modules.get(&own).is_some_and(|(is_public, _)| *is_public) {
            return self.walk(&[&place[..], &[own]].concat(), &format!("{path}::{name}"));
        }
        let declared = module.items.iter().find(|item| declared_name(item).as_deref() == Some(&own));
        if let Some(item) = declared {
            return self.add(item, path, name);
        }
        for item in &module.items {
            let Item::Use(item) = item else { continue };
            let mut leaves = vec![];
            leaves_of(&item.tree, &mut vec![], &mut leaves);
            if let Some((further, _)) = leaves.into_iter().find(|(_, shown)| *shown == own) {
                return self.follow(&place, &further, path, name);
            }
        }
        // What a macro declares is listed by what the macro is given.
        let macros = || {
            module
                .items
                .iter()
                .filter_map(|item| if let Item::Macro(item) = item { Some(item) } else { None })
        };
        let makes =
            |tokens: &str| tokens.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == own);
        let maker =
            macros().find_map(|item| item.ident.as_ref().filter(|_| makes(&item.mac.tokens.to_string())));
        let call = macros().find(|item| maker.is_some_and(|maker| item.mac.path.is_ident(maker)));
        let call = call.unwrap_or_else(|| panic!("{path}::{name}: nothing is called {own} in {place:?}"));
        let given = without_docs(&tidy(&call.mac.tokens));
        self.lines.insert(format!("{path}::{name} by a macro: {given}"));
        self.names.entry(own).or_default().insert(format!("{path}::{name}"));
    }

    /// Module and last name of a path that is used in the module at `place`.
    fn resolve(&self, place: &[String], from: &[String]) -> (Vec<String>, String) {
        let (last, way) = from.split_last().unwrap();
        let mut at = place.to_vec();
        for (i, part) in way.iter().enumerate() {
            match part.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                "self" => {}
                name => {
                    let here =
                        module_at(self.root, &at).is_some_and(|module| module.modules.contains_key(name));
                    assert!(here || i > 0, "{from:?} in {place:?} leaves the crate");
                    at.push(name.to_owned());
                }
            }
        }
        (at, last.clone())
    }

    fn add(&mut self, item: &Item, path: &str, name: &str) {
        self.lines.extend(lines_of(item, &format!("{path}::{name}")));
        let own = declared_name(item).unwrap_or_default();
        self.names.entry(own).or_default().insert(format!("{path}::{name}"));
    }

    /// Public methods and implemented traits of the types that were found.
    fn add_implementations(&mut self, module: &Module) {
        for item in &module.items {
            let Item::Impl(item) = item else { continue };
            if is_hidden(&item.attrs) {
                continue;
            }
            let syn::Type::Path(of) = &*item.self_ty else { continue };
            let own = of.path.segments.last().unwrap().ident.to_string();
            let Some(paths) = self.names.get(&own).cloned() else { continue };
            for path in &paths {
                if let Some((of_trait, _)) = &item.trait_ {
                    self.lines.insert(format!("{path}: {}", tidy(of_trait)));
                    continue;
                }
                for member in &item.items {
                    match member {
                        ImplItem::Fn(f) if is_public(&f.vis) && !is_hidden(&f.attrs) => {
                            self.lines.insert(format!("{path}::{} {}", f.sig.ident, tidy(&f.sig)));
                        }
                        ImplItem::Const(c) if is_public(&c.vis) => {
                            self.lines.insert(format!("{path}::{} const {}", c.ident, tidy(&c.ty)));
                        }
                        _ => {}
                    }
                }
            }
        }
        module.modules.values().for_each(|(_, module)| self.add_implementations(module));
    }
}

/// The lines of one item: itself, and its public parts.
fn lines_of(item: &Item, path: &str) -> Vec<String> {
    match item {
        Item::Struct(item) => {
            let mut lines = vec![format!("{path} struct{}", tidy(&item.generics))];
            lines.extend(fields_of(&item.fields, path, true));
            lines
        }
        Item::Enum(item) => {
            let mut lines = vec![format!("{path} enum{}", tidy(&item.generics))];
            for variant in &item.variants {
                let path = format!("{path}::{}", variant.ident);
                lines.push(format!("{path} variant"));
                lines.extend(fields_of(&variant.fields, &path, false));
            }
            lines
        }
        Item::Trait(item) => {
            let mut lines =
                vec![format!("{path} trait{} : {}", tidy(&item.generics), tidy(&item.supertraits))];
            for part in &item.items {
                match part {
                    TraitItem::Fn(f) if !is_hidden(&f.attrs) => {
                        lines.push(format!("{path}::{} {}", f.sig.ident, tidy(&f.sig)));
                    }
                    TraitItem::Const(c) => lines.push(format!("{path}::{} const {}", c.ident, tidy(&c.ty))),
                    TraitItem::Type(t) => lines.push(format!("{path}::{} type", t.ident)),
                    _ => {}
                }
            }
            lines
        }
        Item::Fn(item) => vec![format!("{path} {}", tidy(&item.sig))],
        Item::Const(item) => vec![format!("{path} const {}", tidy(&item.ty))],
        Item::Type(item) => vec![format!("{path} type {}", tidy(&item.ty))],
        item => vec![format!("{path} {}", tidy(item))],
    }
}

/// Fields of a struct, or of a variant, where all are public.
fn fields_of(fields: &Fields, path: &str, of_struct: bool) -> Vec<String> {
    let shown = fields.iter().enumerate().filter(|(_, field)| !of_struct || is_public(&field.vis));
    let line = |(i, field): (usize, &syn::Field)| {
        let name = field.ident.as_ref().map_or_else(|| i.to_string(), ToString::to_string);
        format!("{path}.{name} {}", tidy(&field.ty))
    };
    shown.map(line).collect()
}

/// Tokens as a person would write them.
fn tidy(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("& ", "&"),
        ("( ", "("),
        (" )", ")"),
        (" (", "("),
        ("[ ", "["),
        (" ]", "]"),
        (" : ", ": "),
        (" ;", ";"),
        (",)", ")"),
        ("->(", "-> ("),
        ("->&", "-> &"),
        ("' ", "'"),
    ] {
        text = text.replace(from, to);
    }
    text
}

/// Tokens as text, less their documentation.
fn without_docs(text: &str) -> String {
    let mut kept = String::new();
    let mut parts = text.split("# [doc = \"");
    kept.push_str(parts.next().unwrap_or_default());
    parts.for_each(|part| kept.push_str(part.split_once("\"]").map_or(part, |(_, rest)| rest)));
    kept
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => {
            (list.path.is_ident("doc") && list.tokens.to_string() == "hidden")
                || (list.path.is_ident("cfg") && list.tokens.to_string() == "test")
        }
        _ => false,
    })
}

fn parts_of(item: &Item) -> Option<(&Visibility, &syn::Ident, &[Attribute])> {
    Some(match item {
        Item::Struct(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Enum(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Trait(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Fn(item) => (&item.vis, &item.sig.ident, &item.attrs),
        Item::Const(item) => (&item.vis, &item.ident, &item.attrs),
        Item::Type(item) => (&item.vis, &item.ident, &item.attrs),
        _ => return None,
    })
}

fn declared_name(item: &Item) -> Option<String> {
    parts_of(item).map(|(_, name, _)| name.to_string())
}

fn public_name(item: &Item) -> Option<String> {
    let (visibility, name, attributes) = parts_of(item)?;
    (is_public(visibility) && !is_hidden(attributes)).then(|| name.to_string())
}

/// Paths that a `use` brings, each with the name under which it does.
fn leaves_of(tree: &UseTree, way: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, String)>) {
    match tree {
        UseTree::Path(path) => {
            way.push(path.ident.to_string());
            leaves_of(&path.tree, way, leaves);
            way.pop();
        }
        UseTree::Name(name) => {
            leaves.push(([&way[..], &[name.ident.to_string()]].concat(), name.ident.to_string()))
        }
        UseTree::Rename(name) => {
            leaves.push(([&way[..], &[name.ident.to_string()]].concat(), name.rename.to_string()));
        }
        UseTree::Glob(_) => leaves.push(([&way[..], &["*".to_owned()]].concat(), "*".into())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves_of(tree, way, leaves)),
    }
}

fn module_at<'m>(root: &'m Module, place: &[String]) -> Option<&'m Module> {
    place.iter().try_fold(root, |module, name| module.modules.get(name).map(|(_, module)| module))
}

/// Reads a file and the modules that it declares; their files lie in `folder`.
fn read_module(file: &Path, folder: &Path) -> Module {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut module = Module::default();
    for item in parsed.items {
        match item {
            Item::Mod(declared) if is_hidden(&declared.attrs) => {}
            Item::Mod(declared) => {
                let name = declared.ident.to_string();
                let read = match declared.content {
                    Some((_, items)) => Module { items, modules: BTreeMap::new() },
                    None => {
                        let beside = folder.join(format!("{name}.rs"));
                        let inside: PathBuf = folder.join(&name).join("mod.rs");
                        read_module(if beside.exists() { &beside } else { &inside }, &folder.join(&name))
                    }
                };
                module.modules.insert(name, (is_public(&declared.vis), read));
            }
            item => module.items.push(item),
        }
    }
    module
}
