# Makes the settings of the package from config/vigie.yaml: its folders are those of the service. The commands that read
# settings then find the database without `--data`.
s,^data: vigie-data$,data: /var/lib/vigie,
s,^monitors: \[vigie-monitors\]$,monitors: [/etc/vigie/monitors],
