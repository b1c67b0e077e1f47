// Nonlinearities of the generator's hidden layers.

DEVICE float activate(float x, int form) {
    switch (form) {
        case 1: return tanhf(x);
        case 2: return sigmoid(x);
        case 3: return fmaxf(x, 0.0f);
        case 4: return x > 20.0f ? x : log1pf(expf(x));
        default: return x;
    }
}

// Its derivative, given what it returned.
DEVICE float slope(float y, int form) {
    switch (form) {
        case 1: return 1.0f - y * y;
        case 2: return y - y * y;
        case 3: return y > 0.0f ? 1.0f : 0.0f;
        case 4: return 1.0f - expf(-y);
        default: return 1.0f;
    }
}
