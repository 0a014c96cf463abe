"""What one case found: its figures, and the sentences of what does not hold."""

from dataclasses import dataclass, field


@dataclass
class Report:
    case: str
    figures: dict = field(default_factory=dict)
    faults: list = field(default_factory=list)

    def need(self, holds, why):
        """Keeps the fault where something does not hold; returns whether it does."""
        if not holds:
            self.faults.append(why)
        return bool(holds)

    def measure(self, name, value, digits=3):
        self.figures[name] = round(value, digits) if isinstance(value, float) else value
        return value

    def need_at_most(self, name, value, limit):
        """Keeps a figure, and the fault where it is missing or above its limit."""
        self.measure(name, value)
        if self.need(value is not None, f"{name} could not be measured"):
            self.need(value <= limit, f"{name} is {value:.3f}, above {limit:g}")

    def row(self):
        return {"case": self.case, "ok": not self.faults, "figures": self.figures, "why": "; ".join(self.faults)}

    def __str__(self):
        figures = ", ".join(f"{name} {value}" for name, value in self.figures.items())
        first = f"{'passed' if not self.faults else 'FAILED'}  {self.case}" + "".join(f"\n        {f}" for f in self.faults)
        return first + (f"\n        {figures}" if figures else "")
