"""Names of ATT&CK for ICS techniques, by id (v20, and the ids that it replaced)."""

NAMES = {
    "T1692.001": "Unauthorized Message: Command Message",
    "T1692.002": "Unauthorized Message: Reporting Message",
    "T0855": "Unauthorized Command Message",
    "T0856": "Spoof Reporting Message",
    "T0836": "Modify Parameter",
    "T0889": "Modify Program",
    "T0831": "Manipulation of Control",
    "T0832": "Manipulation of View",
    "T0838": "Modify Alarm Settings",
    "T0878": "Alarm Suppression",
}
