"""W1 in eager PyTorch: one step of the paper's mocap model with Adam."""

import torch

import inputs


class TrainingStep:
    """The peer that the ratios refer to; a request may name other sizes than the paper's."""

    device = "cpu"

    def __init__(self):
        self.size = None

    def warm_up(self):
        """Nothing before the size is known; `prepare` warms up."""

    def prepare(self, request):
        """Three rounds at a size that is new, then back to step 0."""
        if self.size != inputs.w1_size(request):
            self.restart(inputs.w1_size(request))
            for _ in range(3):
                self.round()
            self.restart(self.size)

    def restart(self, size):
        """Step 0 at a size."""
        self.size = size
        self.data = {name: torch.from_numpy(a).to(self.device) for name, a in inputs.w1_data(size).items()}
        start = {name: torch.from_numpy(a).to(self.device) for name, a in inputs.w1_parameters(size).items()}
        self.gru = torch.nn.GRU(inputs.W1_INPUTS, size.hidden).to(self.device)
        with torch.no_grad():
            for own, name in zip(self.gru.parameters(), ("wih", "whh", "bih", "bhh")):
                own.copy_(start[name])
        names = ("H", "Wz", "bz", "z")
        self.parameters = dict(zip(("wih", "whh", "bih", "bhh"), self.gru.parameters()))
        self.parameters |= {name: start[name].requires_grad_(True) for name in names}
        self.adam = torch.optim.Adam(self.parameters.values(), lr=inputs.LEARNING_RATE, foreach=True, capturable=self.device == "cuda")

    def round(self, request=None):
        self.adam.zero_grad(set_to_none=True)
        self.loss().backward()
        self.adam.step()

    def check(self, request):
        """Loss and gradient norms at step 0."""
        self.restart(inputs.w1_size(request))
        loss = self.loss()
        loss.backward()
        norms = {name: p.grad.double().norm().item() for name, p in self.parameters.items()}
        self.size = None
        return {"loss": loss.item(), "gradient_norms": norms}

    def loss(self):
        """Mean squared error: shared GRU, bottleneck, and a recurrent layer with parameters from the code."""
        states, _ = self.gru(self.data["inputs"])  # (T, B, hidden)
        return ((self.emit(states @ self.parameters["H"].t()) - self.data["outputs"]) ** 2).mean()

    def emit(self, driven):
        """(T, B, 24) → (T, B, 64); every sequence has its own A, B, C, d."""
        p, n, m = self.parameters, inputs.W1_STATES, inputs.W1_BOTTLENECK
        theta = torch.addmm(p["bz"], p["z"], p["Wz"].t())
        A, B, C, d = torch.split(theta, inputs.w1_blocks(), 1)
        A, C = A.view(-1, n, n), C.view(-1, inputs.W1_OUTPUTS, n)
        drive = torch.bmm(driven.transpose(0, 1), B.view(-1, n, m).transpose(1, 2)) + self.data["bias"]
        state, states = torch.zeros(len(A), n, 1, device=self.device), []
        for t in range(inputs.W1_TIME):
            state = torch.tanh(torch.baddbmm(drive[:, t, :, None], A, state))
            states.append(state)
        return (torch.bmm(C, torch.cat(states, 2)) + d[:, :, None]).permute(2, 0, 1)
