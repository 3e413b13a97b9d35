"""Plans that keep the answer and cost less: rewrite rules, costs per unit time, join orders."""
