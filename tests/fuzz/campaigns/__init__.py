"""The campaigns: each file holds one kind of scenario and exports it as `CAMPAIGN`."""
