# Makes a unit of the package from one in systemd/: `sed -f config/packages/unit.sed systemd/vigie.service`.
# The comment on top says how to install by hand, which the package does.
1i\
# From the package `vigie`. Change it by `systemctl edit`: upgrades keep that.
1,/^$/{
    /^#/d
}
s,/usr/local/bin/vigie,/usr/bin/vigie,
# Server, controllers and agents have the users of systemd/sysusers.d/vigie.conf, who own their data without systemd
# too: %N is the name of the unit. The agent of a host and the browsers need no data; their users last from start to stop.
/^DynamicUser=yes$/{
    N
    /\nStateDirectory=vigie-hostagent$/b
    /\nStateDirectory=/s/^DynamicUser=yes/User=%N/
}
