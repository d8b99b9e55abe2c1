-- Written for every analysis and never read: the catalogue has all of it. A service of the last release still writes
-- rows while it runs beside those of this one, so the table stays for now.
TRUNCATE "analysis";
