//! The texts of the page on which monitors are applied.

use super::row::Row;

/// Those of the page.
pub(super) const APPLY: &[Row] = &[
    ("Apply monitors", "Monitore anwenden", "Appliquer des moniteurs"),
    ("monitors as code", "Monitore als Code", "moniteurs sous forme de code"),
    ("Done:", "Ausgeführt:", "Effectué :"),
    (
        "Monitors as in the files of “vigie apply”. Nothing changes before you have seen what would change.",
        "Monitore wie in den Dateien von „vigie apply“. Nichts ändert sich, bevor Sie gesehen haben, was sich ändern würde.",
        "Des moniteurs comme dans les fichiers de « vigie apply ». Rien ne change avant que vous ayez vu ce qui changerait.",
    ),
    ("Monitors in YAML or JSON", "Monitore in YAML oder JSON", "Moniteurs en YAML ou en JSON"),
    (
        "Remove monitors of an earlier “apply” that are not in the text",
        "Monitore eines früheren „apply“ entfernen, die nicht im Text stehen",
        "Supprimer les moniteurs d’un « apply » précédent qui ne figurent pas dans le texte",
    ),
    ("Show what would change", "Zeigen, was sich ändern würde", "Montrer ce qui changerait"),
    ("What would change", "Was sich ändern würde", "Ce qui changerait"),
    ("Apply", "Anwenden", "Appliquer"),
    (
        "This is not what you saw: look at it again, and apply it then.",
        "Das ist nicht, was Sie gesehen haben: Sehen Sie es noch einmal an und wenden Sie es dann an.",
        "Ce n’est pas ce que vous avez vu : relisez, puis appliquez.",
    ),
    ("Key", "Schlüssel", "Clé"),
    ("Change", "Änderung", "Changement"),
    ("Field", "Feld", "Champ"),
    ("Before", "Vorher", "Avant"),
    ("After", "Nachher", "Après"),
    ("new", "neu", "nouveau"),
    ("changed", "geändert", "modifié"),
    ("removed", "entfernt", "supprimé"),
    ("unchanged", "unverändert", "inchangé"),
    ("{count} created", "{count} angelegt", "{count} créé(s)"),
    ("{count} changed", "{count} geändert", "{count} modifié(s)"),
    ("{count} removed", "{count} entfernt", "{count} supprimé(s)"),
    ("{count} unchanged", "{count} unverändert", "{count} inchangé(s)"),
    (
        "Or write several monitors as code, and apply them.",
        "Oder schreiben Sie mehrere Monitore als Code und wenden Sie sie an.",
        "Ou écrivez plusieurs moniteurs sous forme de code et appliquez-les.",
    ),
];
