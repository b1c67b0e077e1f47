"""Settings of a fit, as the library has them.

`MTDS_WRITE_API=1 pytest python/tests/test_settings.py` writes this file anew.
"""

from collections.abc import Sequence
from typing import TypedDict

__all__ = ["Settings"]


class Settings(TypedDict, total=False):
    """What may be asked of a fit; what is left out is chosen from the data."""

    base: str
    """What kind of system the members share: linear (lds; kalman, where chance disturbs it), a network (rnn, ornn, gru; layered, where it follows inputs), or doses and their effect (pd)."""
    recipe: str
    """Settings to begin with: usual, motion (many outputs that follow inputs with a phase), motion_large (the same for a graphics card) or paper (the motion model of Bird & Williams)."""
    code: int
    """In how many ways members may differ: length of the code of a member."""
    state: int
    """How much a member remembers from step to step: size of the state."""
    effort: float
    """Factor on the usual number of steps: 0.1 for a first look, 4 for patience."""
    budget: float
    """Work that learning may take, in minutes of two usual cores: how many structures, parts of the family and steps there are; the same on any machine."""
    compare: bool
    """Compare kinds of systems by forecasts of members held out, and let those that do well forecast together: true or false."""
    front: int
    """Units of a gated network over the inputs that stands before the base model and is the same for all members; 0 for none."""
    bottleneck: int
    """Width of what that network hands to the base model; 0 without it."""
    front_skip: bool
    """Let the base model see the inputs, too."""
    front_lag: bool
    """Hand the bottleneck to the base model one step later, as the paper's motion model does."""
    front_seed: int
    """First steps whose outputs tell where the network begins, and are not scored; 0 for a start at zero."""
    unscored: int
    """First steps of a sequence or segment that are not scored, in which that network finds its state."""
    front_rate: float
    """Factor on the learning rate of that network."""
    front_l2: float
    """Weight decay of that network, as l2 of the generator."""
    clock: int
    """Smooth functions of the time since a sequence began, as inputs whose effect the code adapts: where members begin together; 0 for none."""
    residual: bool
    """Let a recurrent base model emit changes, which add up to the outputs."""
    hidden: Sequence[int]
    """Widths of the generator's hidden layers, e.g. 64,64; none for a generator that is affine."""
    rank: int
    """Width of a last layer of the generator without nonlinearity, through which all that the code adapts goes; 0 for none."""
    adapt: Sequence[str]
    """Let the code adapt these blocks of parameters, too; `rest` for all that no list names."""
    share: Sequence[str]
    """Learn these blocks of parameters, but the same for all members; `rest` for all that no list names."""
    fix: Sequence[str]
    """Hold these blocks of parameters where learning would begin; `rest` for all that no list names."""
    scaling: str
    """From units of the data to units of the model: identity, outputs, input_units or all."""
    segment: int
    """Steps of the segments that sequences are cut into; 0 leaves them whole."""
    overlap: int
    """Steps that a segment shares with the one before it; 0 where sequences are whole."""
    jitter: int
    """Steps by which a segment may begin sooner or later, anew whenever it is learned from (elbo and iwae); 0 for none."""
    validation: float
    """Share of the sequences that is held out to decide when to stop."""
    selection: float
    """Share of the sequences that is kept apart to choose the length of the code by."""
    learn: str
    """What learning maximises: mco (Monte-Carlo objective), elbo (evidence lower bound) or iwae (importance-weighted bound)."""
    start: str
    """How learning begins: prior (many sequences), effects (few), curves (that begin together), responses (codes by how outputs follow inputs), none (elbo and iwae)."""
    start_inputs: Sequence[str]
    """Inputs that outputs are fitted on where learning begins with responses; none named: the phase, or inputs that change."""
    start_steps: int
    """Steps of the start; 0 without one."""
    particles: int
    """Particles per step of the start; independent restarts of random effects; 0 without a start."""
    resampled: int
    """Particles per sequence, drawn by their weights, that carry the gradient of a start from the prior, as in the paper; 0 for all, weighted."""
    start_noise: float
    """Noise s that the start comes down to, in standard deviations of an output."""
    refine_steps: int
    """Steps of the refinement, which for elbo and iwae is all of learning."""
    refine_particles: int
    """Codes drawn per sequence and step of the refinement."""
    minibatch: int
    """Sequences or segments per step of elbo and iwae, each once before any comes again; 0 for all."""
    hard_steps: int
    """First steps of elbo and iwae without divergence and with sharp beliefs: against collapse; 0 for none."""
    hard_std: float
    """Deviation of every code in these steps."""
    kl_warmup: int
    """Steps over which elbo and iwae let the weight of the divergence (KL) rise to 1."""
    smooth: float
    """Steps over which codes of the segments of one sequence stay alike (elbo): neighbours are correlated by e^(-steps between / these); 0 for codes that know nothing of each other."""
    temperature: float
    """Temperature of the likelihood in elbo and iwae: below 1 where outputs are less independent than the model says."""
    amortised: int
    """Learn a network that reads a sequence and says its code, with these units in each direction; 0 for a belief per sequence."""
    code_rate: float
    """Factor on the learning rate of beliefs about codes."""
    shared_rate: float
    """Factor on the learning rate of blocks that all members share (elbo and iwae)."""
    shared_l2: float
    """Weight decay of these blocks, as l2 of the generator, where they multiply a state or an input."""
    window: int
    """Steps over which gradients of elbo and iwae flow back; 0 for whole sequences."""
    least_noise: float
    """Noise s that learning never goes below, in standard deviations of an output."""
    learning_rate: float
    """Learning rate of the refinement at its height."""
    schedule: str
    """How the learning rate goes on: cosine (a short rise, then down) or constant."""
    clip: float
    """Longest gradient: longer ones are shortened to it."""
    averaging: float
    """Share of a running average of all weights that a step of the refinement keeps; the average is what is learned; 0 for none."""
    l2: float
    """Weight decay of the generator: coefficient of ½ λ ‖W‖² / N."""
    patience: int
    """Checks of the held-out bound without gain after which learning stops; 0 learns to the last step, whatever it says."""
    prior: str
    """Where codes of new members are expected: auto, normal or aggregate (around the members)."""
    prior_std: float
    """Standard deviation τ of a normal prior over codes, and of members like none before in another."""
    calibrate: bool
    """Give process noise the size by which held-out sequences are forecast best: true or false."""
    remainder: str
    """Let what the code leaves over of the steps seen go on in forecasts: auto (where held-out sequences are forecast better), always or never."""
    noise_shift: float
    """How far log s of a new member is expected above the learned one."""
    noise_spread: float
    """Standard deviation of log s of a new member."""
