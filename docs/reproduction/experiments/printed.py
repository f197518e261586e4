"""Numbers that the papers print, for docs/reproduction/experiments. No measurement of ours is here."""

# Which figures of Mueller-Roemer et al. show what, of 2019 and of 2020: headings and pictures read this alone.
FIGURES = {
    "over cusparse, single": ("2019, figure 1", "2020, figure 5"),
    "over cusparse, double": ("2019, figure 5", "2020, figure 6"),
    "threads and blocks": ("2020, figures 1 and 7",),
    "static and dynamic": ("2020, figure 7",),
}


def figures_of(what):
    return "; ".join(FIGURES[what])


def newest_figure_of(what):
    return FIGURES[what][-1]


# Mueller-Roemer, Stork, Fellner 2020, table 9: bytes of CSR (of blocks), and what layouts take over that: ELL, Sl-16,
# Sl-32, 4x4 of cuSPARSE.
KIB, MIB = 1024, 1024 * 1024
TABLE_9 = {
    "mhd1280b": (449.9, KIB, 1.8, 1.5, 1.7, None),
    "RFdevice": (7.3, MIB, 52.8, 1.0, 1.0, None),
    "fem_filter": (33.3, MIB, 24.0, 1.8, 2.1, None),
    "mono_500Hz": (96.7, MIB, 22.9, 1.2, 1.3, None),
    "bunny": (8.5, MIB, 1.7, 1.1, 1.2, 3.6),
    "armadillo": (42.2, MIB, 1.8, 1.2, 1.2, 3.6),
    "dragon": (106.4, MIB, 2.3, 1.3, 1.4, 3.6),
    "buddha": (132.7, MIB, 2.5, 1.3, 1.4, 3.6),
    "armadillo_1000.1": (833.7, KIB, 3.0, 1.5, 1.6, None),
    "bunny2.4M": (20.7, MIB, 7.4, 2.0, 2.3, None),
    "nut_37k": (8.2, MIB, 2.6, 1.3, 1.4, None),
    "dragon_100K": (22.9, MIB, 2.8, 1.5, 1.6, None),
    "NX_MotorH67k": (65.4, MIB, 1.9, 1.2, 1.3, None),
}

# Tables 2 to 8, GP100: best layout (outer, matrix, vector) and gain over schedules alone in single and in double
# precision; where dynamic schedules are the best layout's.
GP100 = {
    "mhd1280b": ("CSR-SoA-AoS", 1.05, "CSR-SoA-SoA", 1.00, "-"),
    "RFdevice": ("CSR-SoA-AoS", 1.18, "CSR-AoS-AoS", 1.00, "-"),
    "fem_filter": ("ELL-AoS-AoS", 1.52, "ELL-AoS-AoS", 1.16, "-"),
    "mono_500Hz": ("ELL-AoS-AoS", 2.09, "ELL-AoS-AoS", 1.84, "-"),
    "bunny": ("ELL-AoS-AoS", 1.46, "ELL-AoS-AoS", 1.40, "-"),
    "armadillo": ("ELL-AoS-AoS", 1.68, "ELL-SoA-AoS", 1.42, "-"),
    "dragon": ("ELL-AoS-AoS", 1.54, "ELL-AoS-AoS", 1.31, "double"),
    "buddha": ("ELL-AoS-AoS", 1.48, "ELL-AoS-AoS", 1.31, "double"),
    "armadillo_1000.1": ("Sl-16-SoA-SoA", 1.20, "Sl-32-SoA-SoA", 1.18, "-"),
    "bunny2.4M": ("ELL-AoS-AoS", 1.12, "ELL-AoS-SoA", 1.21, "double"),
    "nut_37k": ("Sl-32-SoA-SoA", 1.27, "ELL-AoS-AoS", 1.27, "-"),
    "dragon_100K": ("ELL-AoS-AoS", 1.61, "ELL-AoS-AoS", 1.52, "double"),
    "NX_MotorH67k": ("ELL-SoA-AoS", 1.95, "ELL-SoA-AoS", 1.67, "-"),
}

# Barbieri, Cardellini, Fanfarillo, Filippone 2015, table 5: 10^6 bytes of DIA, HDIA, ELL, HLL, HYB.
TABLE_5 = {
    "pde50": (7, 7, 11, 10, 10.8),
    "pde60": (12.1, 12.2, 19, 18.9, 18.7),
    "pde80": (28.7, 29, 45, 44.8, 44.6),
    "pde90": (40.8, 41.3, 64.1, 63.9, 63.6),
    "pde100": (56, 56.7, 88, 87.6, 87.3),
    "nlpkkt80": (652900, 272, 361, 347, 349),
    "nlpkkt120": (4897552, 888.3, 1204, 1160, None),
    "raefsky2": (18.8, 5.4, 4.2, 3.7, 3.5),
    "cant": (49.5, 49.9, 58.7, 54.9, 48),
    "FEM_3D_thermal2": (10744, 35.6, 48.51, 48.53, 42.5),
    "thermal1": (21499, 75.1, 11.2, 8.9, 7.2),
    "thermal2": (6543314, 1210, 167, 132.1, 107.9),
}

# Tables 6 and 7, GTX 285 and Tesla M2070: GFLOPS in double precision of DIA, HDIA, ELL, HLL, HYB.
TABLE_6 = {
    "pde50": (16.58, 13.74, 15.14, 14.12, 14.45),
    "pde60": (17.23, 14.63, 16.14, 15.34, 15.37),
    "pde80": (17.94, 15.67, 17.41, 17.61, 16.05),
    "pde90": (17.67, 15.69, 16.93, 16.59, 16.29),
    "pde100": (17.85, 15.76, 17.19, 16.95, 16.39),
    "nlpkkt80": (None, None, 17.25, 17.20, 17.14),
    "nlpkkt120": (None, None, None, None, None),
    "raefsky2": (1.96, 2.80, 7.18, 6.98, 2.43),
    "cant": (11.67, 12.30, 13.24, 12.93, 12.36),
    "FEM_3D_thermal2": (None, None, 13.24, 12.81, 12.98),
    "thermal1": (None, None, 9.28, 8.58, 6.72),
    "thermal2": (None, None, 8.78, 8.83, 7.71),
}
TABLE_7 = {
    "pde50": (15.84, 14.79, 11.83, 11.96, 12.43),
    "pde60": (16.37, 15.43, 12.02, 12.17, 12.93),
    "pde80": (16.76, 16.02, 12.05, 12.37, 13.30),
    "pde90": (16.58, 16.04, 11.94, 12.27, 13.16),
    "pde100": (16.29, 15.95, 11.78, 12.18, 13.37),
    "nlpkkt80": (None, 15.62, 13.14, 13.10, 15.05),
    "nlpkkt120": (None, 15.00, 12.97, 12.94, 14.01),
    "raefsky2": (2.00, 2.92, 10.21, 10.06, 4.89),
    "cant": (13.63, 13.04, 11.83, 11.59, 12.35),
    "FEM_3D_thermal2": (None, 15.25, 11.56, 10.75, 13.07),
    "thermal1": (None, 1.30, 8.17, 7.95, 6.90),
    "thermal2": (None, 1.26, 7.74, 7.64, 7.00),
}

# Table 8, GTX 660: GFLOPS in double precision of DIA, HDIA, ELL, HLL, HYB.
TABLE_8 = {
    "pde50": (17.6, 17.4, 15.0, 14.5, 14.3),
    "pde60": (19.5, 18.6, 15.5, 15, 14.7),
    "pde80": (19.3, 18.43, 15.0, 14.7, 14.9),
    "pde90": (18.3, 17.6, 14.4, 14, 14.6),
    "pde100": (17.4, 17.16, 13.7, 13.7, 13.3),
    "nlpkkt80": (None, 21.28, 16.7, 16.8, 16.7),
    "nlpkkt120": (None, 21.5, 16.6, 16.7, None),
    "raefsky2": (2.7, 4.6, 12.6, 12.3, 4.5),
    "cant": (17.1, 16.9, 15.34, 14.73, 14.7),
    "FEM_3D_thermal2": (None, 19.3, 14.6, 14.34, 15.4),
    "thermal1": (None, 1.7, 10.2, 9.9, 8.5),
    "thermal2": (None, 1.6, 9.27, 9.54, 8.3),
}

# Choi, Singh, Vuduc 2010: errors of predicted times, per cent, of BELLPACK on a Tesla C1060 and a C870 (mean, median,
# largest).
MODEL = {"C1060": (3.74, 2.73, 14.89), "C1060, 3x3 and R = 128 alone": (13.56, 2.95, 61.41), "C870": (2.18, 2.06, 6.18)}

# The same, abstract: the fastest of BELLPACK in single and in double precision, of all matrices, on a C1060.
BELLPACK_GFLOPS = (29.0, 15.7)

# Barbieri and others, table 10, Tesla M2070: GFLOPS of one and of two threads a row, ELL-G and HLL.
TABLE_10 = {
    "pde50": (11.83, 8.94, 11.96, 8.58),
    "pde60": (12.02, 9.03, 12.17, 8.72),
    "pde80": (12.05, 8.96, 12.37, 8.73),
    "pde90": (11.94, 8.54, 12.27, 8.41),
    "pde100": (11.78, 8.35, 12.18, 8.21),
    "nlpkkt80": (13.14, 13.27, 13.10, 13.21),
    "nlpkkt120": (12.97, 13.21, 12.94, 13.32),
    "thermal1": (8.17, 6.96, 7.95, 6.73),
    "thermal2": (7.74, 6.86, 7.64, 6.78),
    "raefsky2": (10.21, 12.27, 10.06, 11.82),
    "cant": (11.83, 11.91, 11.59, 11.92),
    "FEM_3D_thermal2": (11.56, 11.65, 11.32, 11.77),
}
