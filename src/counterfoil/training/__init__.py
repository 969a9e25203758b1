"""Models trained on sensitive records with noisy gradients: fair ones, and the baselines DP-SGD and PATE.

Training needs PyTorch, which the extra `counterfoil[torch]` installs (PATE needs scikit-learn alone); the names can be
imported without.
"""

from counterfoil.public_names import lazily

__getattr__, __dir__ = lazily(__name__)
