"""W2 in eager PyTorch: one step of Algorithm 1 with Adam."""

import torch

import inputs


class TrainingStep:
    """The peer that the ratios refer to."""

    device = "cpu"
    # In what weights are added up before codes are drawn by them.
    added_in = torch.float32

    def __init__(self):
        data = {name: torch.from_numpy(a).to(self.device) for name, a in inputs.w2_data().items()}
        self.codes, self.outputs, self.uniforms = data["codes"], data["outputs"], data["uniforms"]
        self.basis, self.identity = torch.from_numpy(inputs.skew_basis()).to(self.device), torch.eye(4, device=self.device)
        self.restart()

    def restart(self):
        """Back to step 0."""
        start = {name: torch.from_numpy(a).to(self.device) for name, a in inputs.w2_parameters().items()}
        self.parameters = {name: values.requires_grad_(True) for name, values in start.items()}
        self.adam = torch.optim.Adam(self.parameters.values(), lr=inputs.LEARNING_RATE, foreach=True, capturable=self.device == "cuda")

    def warm_up(self):
        for _ in range(3):
            self.round()
        self.restart()

    def prepare(self, request):
        """Nothing: the state carries over from round to round."""

    def round(self, request=None):
        self.adam.zero_grad(set_to_none=True)
        self.loss().backward()
        self.adam.step()

    def check(self, request):
        """Loss and gradient norms at step 0; added up in double precision, so that rounding draws no other codes than elsewhere."""
        self.restart()
        self.added_in = torch.float64
        loss = self.loss()
        loss.backward()
        self.added_in = TrainingStep.added_in
        norms = {name: p.grad.double().norm().item() for name, p in self.parameters.items()}
        self.restart()
        return {"loss": loss.item(), "gradient_norms": norms}

    def loss(self):
        """Score all particles against all sequences, resample, and roll out the survivors with gradient."""
        scale = 0.5 / inputs.NOISE_STD**2
        with torch.no_grad():
            means = self.rollout(self.codes)
            # |y|² is the same for every particle and drops out of the weights.
            error = torch.addmm((means**2).sum(1)[None, :], self.outputs, means.t(), alpha=-2.0)
            cumulative = torch.softmax(-scale * error.to(self.added_in), 1).cumsum(1)
            chosen = torch.searchsorted(cumulative, self.uniforms.to(self.added_in)).clamp_(max=inputs.N_PARTICLE - 1)
        means = self.rollout(self.codes[chosen.reshape(-1)]).view(inputs.N_SEQ, inputs.N_RESAMPLED, inputs.N_TIME)
        return ((means - self.outputs[:, None, :]) ** 2).sum(2).mean() * scale

    def rollout(self, z):
        """(M, 4) codes → (M, 80) mean outputs: x_1 = A x_0 + B, x_t = A x_{t-1}, y_t = C x_t."""
        A, B, C, x0 = self.system(z)
        states = [torch.baddbmm(B[:, :, None], A, x0[:, :, None])]
        for _ in range(1, inputs.N_TIME):
            states.append(torch.bmm(A, states[-1]))
        return torch.bmm(C[:, None, :], torch.cat(states, 2))[:, 0, :]

    def system(self, z):
        """Generator and parameterisation: A = diag(tanh v) Cayley(S), B = sigmoid(b1) tanh(b2)."""
        p = self.parameters
        feature = torch.cat([z, torch.sin(z), torch.cos(z), z.norm(dim=1, keepdim=True)], 1)
        hidden = torch.sigmoid(torch.addmm(p["b1"], feature, p["W1"].t()))
        theta = torch.addmm(p["b2"], hidden, p["W2"].t())
        A = torch.tanh(theta[:, :4])[:, :, None] * self.cayley(theta[:, 4:10])
        B = torch.sigmoid(theta[:, 10:14]) * torch.tanh(theta[:, 14:18])
        return A, B, theta[:, 18:22], theta[:, 22:26]

    def cayley(self, s):
        """(I - S)(I + S)⁻¹ of a 4 × 4 skew S, in closed form by Cayley–Hamilton."""
        S = (s @ self.basis).view(-1, 4, 4)
        S2 = S @ S
        S3 = S2 @ S
        a = (s**2).sum(1)[:, None, None]
        pfaffian2 = ((s[:, 0] * s[:, 5] - s[:, 1] * s[:, 4] + s[:, 2] * s[:, 3]) ** 2)[:, None, None]
        top = (1 + a - pfaffian2) * self.identity - 2 * (1 + a) * S + 2 * S2 - 2 * S3
        return top / (1 + a + pfaffian2)
