"""What the paper reports: Jain, Vishwanathan and Varma (KDD 2012), on one core of a 2.1 GHz AMD 6172."""

# Seconds in tables 2, 4, 5 and 9: (data, norm) to (projected gradients, spectral), None where it did not converge.
SUM = {("australian", "1.1"): (39.4, 7.0), ("australian", "1.33"): (248.3, 6.9), ("australian", "2"): (23.5, 6.0),
             ("liver-disorders", "1.1"): (282.2, 0.8), ("liver-disorders", "1.33"): (3.3, 0.7),
             ("liver-disorders", "2"): (0.7, 0.6), ("sonar", "1"): (None, 273.4), ("sonar", "1.1"): (785.5, 9.0),
             ("sonar", "1.33"): (57.8, 4.2), ("sonar", "2"): (7.7, 3.1), ("breast-cancer", "1"): (57.9, 5.1),
             ("breast-cancer", "1.1"): (237.2, 8.6), ("breast-cancer", "1.33"): (11.2, 3.3),
             ("breast-cancer", "2"): (6.6, 2.7), ("diabetes", "1.1"): (73.6, 4.1), ("diabetes", "1.33"): (11.5, 3.0),
             ("diabetes", "2"): (3.6, 2.5), ("wpbc194", "1"): (38.2, 6.2), ("wpbc194", "1.1"): (44.4, 1.2),
             ("wpbc194", "1.33"): (5.3, 1.3), ("wpbc194", "2"): (1.7, 1.2), ("australian", "1"): (29.5, 10.1),
             ("ionosphere", "1"): (1392.4, 39.2)}
PRODUCT = {("australian", "1.1"): (None, 22.0), ("australian", "1.33"): (None, 22.1), ("australian", "2"): (None, 21.6),
                 ("liver-disorders", "1.1"): (722.4, 1.0), ("liver-disorders", "1.33"): (136.1, 0.6),
                 ("liver-disorders", "2"): (0.3, 0.4), ("sonar", "1.1"): (None, 7.4), ("sonar", "1.33"): (None, 3.2),
                 ("sonar", "2"): (293.8, 3.1), ("breast-cancer", "1.1"): (28.4, 4.0), ("breast-cancer", "1.33"): (448.6, 3.3),
                 ("breast-cancer", "2"): (377.8, 3.2), ("diabetes", "1.1"): (1232.5, 4.8), ("diabetes", "1.33"): (364.4, 2.5),
                 ("diabetes", "2"): (2.1, 2.1), ("wpbc194", "1.1"): (1080.3, 4.4), ("wpbc194", "1.33"): (1064.7, 3.7),
                 ("wpbc194", "2"): (209.3, 2.1), ("australian", "1"): (None, 16.6), ("sonar", "1"): (None, 4.8),
                 ("liver-disorders", "1"): (1482.6, 2.6), ("breast-cancer", "1"): (1182.6, 4.4),
                 ("diabetes", "1"): (1525.7, 7.6), ("wpbc194", "1"): (1093.9, 2.7)}
# Hours in tables 8 and 10.
LARGE = {("letter", "1.33"): 0.66, ("poker", "1.33"): 0.96, ("adult-8", "1.33"): 3.42, ("web", "1.33"): 1.33,
               ("cod-rna", "1.33"): 8.99, ("letter", "1"): 0.67, ("poker", "1"): 0.49, ("adult-8", "1"): 1.73,
               ("web", "1"): 0.88, ("cod-rna", "1"): 3.45}
# Seconds of SimpleMKL (reduced gradients) and SILP in table 4, p = 1.
SUM_BASELINES = {"wpbc194": (400.2, 15.5), "breast-cancer": (676.1, 12.3), "australian": (383.2, 1094.9),
                 "ionosphere": (1247.6, 107.8), "sonar": (1468.2, 935.1)}
# (seconds, machines) in table 7, p = 1.1.
ABLATION = {"australian": {"pgd": (39.4, 3230), "pgd+n": (32.7, 116), "pgd+s": (317.0, 5980), "pgd+n+s": (7.0, 621)},
            "sonar": {"pgd": (785.5, 209461), "pgd+n": (41.6, 3236), "pgd+s": (40.2, 3806), "pgd+n+s": (9.0, 2457)},
            "breast-cancer": {"pgd": (237.2, 109599), "pgd+n": (42.2, 1187), "pgd+s": (14.9, 3537), "pgd+n+s": (8.6, 3006)},
            "diabetes": {"pgd": (73.6, 29347), "pgd+n": (26.3, 2966), "pgd+s": (10.5, 1239), "pgd+n+s": (4.1, 695)},
            "wpbc194": {"pgd": (44.4, 14376), "pgd+n": (27.9, 9388), "pgd+s": (2.9, 340), "pgd+n+s": (1.2, 79)}}
