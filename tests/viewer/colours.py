"""How colours look to people who see some of them alike: sRGB, simulated by the matrices of
Machado, Oliveira and Fernandes (2009) at full severity, compared in CIELAB."""

import numpy as np

VISIONS = {
    "all colours": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                            [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                              [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                            [0.004733, 0.691367, 0.303900]]),
}
_TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                    [0.0193339, 0.1191920, 0.9503041]])
_WHITE = _TO_XYZ.sum(1)


def linear(colour: str) -> np.ndarray:
    """Light of a colour that is written #rrggbb."""
    values = np.array([int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    xyz = np.clip(_TO_XYZ @ np.clip(light, 0, 1), 0, None) / _WHITE
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def least_difference(colours: list[str], vision: np.ndarray) -> float:
    """The difference of the two that look most alike."""
    seen = [lab(vision @ linear(each)) for each in colours]
    return min(float(np.linalg.norm(a - b)) for at, a in enumerate(seen) for b in seen[:at])


def contrast(a: str, b: str) -> float:
    """WCAG's ratio of contrast."""
    one, two = (float(_TO_XYZ[1] @ linear(each)) for each in (a, b))
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)
