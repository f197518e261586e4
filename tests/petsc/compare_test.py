#!/usr/bin/env python3
"""The comparer and the reader of the table catch what they are for."""

import unittest

import sources
import table
from compare import Tolerance, compare

SOLVE = """\
  0 KSP Residual norm 1.00000
  1 KSP Residual norm 0.250000
  2 KSP Residual norm 1.25e-07
Linear solve converged due to CONVERGED_RTOL iterations 2
Norm of error 0.000123456 iterations 2
Mat Object: 2 MPI processes
  type: mpibaij
row 0: (0, 4.)  (1, -1.)
"""


class Comparing(unittest.TestCase):
    def same(self, found, wanted=SOLVE, **how):
        count, difference = compare(found, wanted, **how)
        self.assertIsNone(difference)
        return count

    def differs(self, found, wanted=SOLVE, **how):
        self.assertIsNotNone(compare(found, wanted, **how)[1])

    def changed(self, old, new):
        self.assertIn(old, SOLVE)
        return SOLVE.replace(old, new, 1)

    def test_equal_outputs_are_the_same_and_their_numbers_are_counted(self):
        self.assertEqual(self.same(SOLVE), 15)

    def test_a_wrong_number_is_caught(self):
        self.differs(self.changed("0.000123456", "0.000123556"))
        self.differs(self.changed("(1, -1.)", "(1, -1.1)"))
        self.differs(self.changed("(1, -1.)", "(1, 1.)"))
        self.differs(self.changed("(1, -1.)", "(2, -1.)"))

    def test_the_last_printed_place_may_be_rounded_apart(self):
        self.same(self.changed("0.000123456", "0.000123457"))
        self.differs(self.changed("0.000123456", "0.000123458"))

    def test_a_row_may_allow_more(self):
        self.same(self.changed("0.000123456", "0.000124"), tolerance=Tolerance(relative=0.01))
        self.differs(self.changed("0.000123456", "0.00013"), tolerance=Tolerance(relative=0.01))

    def test_residuals_that_fell_far_are_compared_with_the_first(self):
        self.same(self.changed("1.25e-07", "1.25034e-07"))
        self.differs(self.changed("1.25e-07", "1.25e-05"))

    def test_a_missing_or_added_line_is_caught(self):
        self.differs(self.changed("Norm of error 0.000123456 iterations 2\n", ""))
        self.differs(self.changed("Mat Object", "row 7: (7, 1.)\nMat Object"))
        self.differs(SOLVE + "one more\n")
        self.differs(self.changed("row 0: (0, 4.)  (1, -1.)\n", ""))
        self.differs("")

    def test_other_words_are_caught(self):
        self.differs(self.changed("CONVERGED_RTOL", "CONVERGED_ATOL"))
        self.differs(self.changed("mpibaij", "mpiaij"))

    def test_iteration_counts_may_differ_by_two_or_one_in_a_hundred(self):
        line = "Linear solve converged due to CONVERGED_RTOL iterations {}\n"
        self.same(line.format(4), line.format(2))
        self.differs(line.format(5), line.format(2))
        self.same(line.format(1010), line.format(1000))
        self.differs(line.format(1011), line.format(1000))

    def test_other_counts_may_not_differ(self):
        self.differs("nonzeros=101\n", "nonzeros=100\n")

    def test_monitors_may_be_as_much_longer(self):
        longer = self.changed("  2 KSP Residual norm 1.25e-07\n",
                              "  2 KSP Residual norm 1.25e-07\n  3 KSP Residual norm 1.e-10\n")
        self.same(longer)
        self.differs(longer.replace("  3 KSP", "  3 KSP Residual norm 1.e-10\n  4 KSP Residual norm 1.e-11\n  5 KSP"))
        self.differs(longer.replace("0.25", "0.26"))

    def test_own_lines_and_names_are_those_of_the_parent(self):
        self.same(self.changed("  type: mpibaij\n", "  type: mpibaijcompound\n    compound plan: csr words=1:column "
                               "(default heuristic)\n    compound memory: 3 blocks\n"))
        self.differs(self.changed("  type: mpibaij\n", "  type: mpibaij\n    compound interest: 3\n"))

    def test_not_a_number_is_caught(self):
        self.differs(self.changed("0.000123456", "nan"))
        self.same("norm nan\n", "norm nan\n")

    def test_signs_of_imaginary_parts_belong_to_their_numbers(self):
        self.same("x 1. + 1e-17 i\n", "x 1. - 1e-17 i\n")
        self.differs("x 1. + 2. i\n", "x 1. - 2. i\n")

    def test_order_counts_unless_the_row_says_otherwise(self):
        self.differs("[1] 2.5\n[0] 1.5\n", "[0] 1.5\n[1] 2.5\n")
        self.same("[1] 2.5\n[0] 1.5\n", "[0] 1.5\n[1] 2.5\n", unordered=True)
        self.differs("[1] 2.5\n[0] 1.4\n", "[0] 1.5\n[1] 2.5\n", unordered=True)


class Table(unittest.TestCase):
    def test_the_table_is_well_formed_and_as_large_as_asked_for(self):
        cases = table.read()
        self.assertGreaterEqual(len(cases), 100)
        self.assertGreaterEqual(len({case.program for case in cases}), 60)
        self.assertEqual({case.ranks for case in cases}, {1, 2, 3, 4})

    def test_bad_rows_are_refused(self):
        for row in ("mat/tests/ex1 1 quick -mat_type aij", "mat/tests/ex1 9 - -mat_type TYPE",
                    "mat/tests/ex1 -mat_type TYPE",
                    "mat/tests/ex1 1 quack -mat_type TYPE"):
            with self.assertRaises(table.BadTable):
                table.parse_row(row, "row")

    def test_releases_are_told_apart(self):
        case = table.parse_row("mat/tests/ex1 2 since=3.20,baij-fails-until=3.22 -mat_type TYPE", "row")
        petsc = {"scalar": "real", "release": "3.18.5"}
        self.assertIsNotNone(case.why_not(petsc, False))
        self.assertIsNone(case.why_not(dict(petsc, release="3.26.1"), False))
        self.assertTrue(case.parent_fails("baij", "3.20.2"))
        self.assertFalse(case.parent_fails("baij", "3.26.1"))


class TestBlocks(unittest.TestCase):
    def test_sets_loops_and_inherited_arguments_are_taken_apart(self):
        import tempfile
        with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
            file.write("/*TEST\n   build:\n     requires: !complex\n   testset:\n      args: -a\n      nsize: {{1 "
                       "2}}\n      test:\n"
                       "        suffix: x\n        args: -b {{3 4}}\n      test:\n        TODO: later\nTEST*/\n")
            file.flush()
            tests = sources.tests_of(file.name, "p")
        self.assertEqual([(t.ranks, t.args) for t in tests],
                         [(1, "-a -b 3"), (1, "-a -b 4"), (2, "-a -b 3"), (2, "-a -b 4")])
        self.assertTrue(all(t.requires == ["!complex"] for t in tests))


unittest.main()
