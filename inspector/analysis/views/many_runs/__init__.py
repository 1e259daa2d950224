"""Many runs of one task: the tree of their steps, facts that part groups of them, outliers, flaky calls."""
