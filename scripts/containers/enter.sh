#!/bin/sh
# Runs in namespaces of its own (mounts, processes, network, names, cgroups): TREE becomes the root, with the repository under
# /repository and the engine's data under /data, and the engine starts as its first process. Nothing of it is visible outside.
set -eu

mount --make-rprivate /
mkdir -p "$WORK/upper" "$WORK/overlay" "$WORK/root" "$WORK/data"
mount -t overlay overlay -o "lowerdir=$TREE,upperdir=$WORK/upper,workdir=$WORK/overlay" "$WORK/root"
cd "$WORK/root"
mkdir -p repository images data before
mount --bind "$REPOSITORY" repository
mount --bind "$IMAGES" images
mount --bind "$WORK/data" data
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
mount -t tmpfs tmpfs run
cp /etc/resolv.conf etc/resolv.conf

# Of the control groups the engine sees only the one that it was started in.
if grep -q '^[1-9]' /proc/self/cgroup; then
  mount -t tmpfs tmpfs sys/fs/cgroup
  sed -n 's/^[1-9][0-9]*:\([^:]*\):.*/\1/p' /proc/self/cgroup | while read -r controllers; do
    folder="sys/fs/cgroup/${controllers#name=}"
    mkdir -p "$folder"
    mount -t cgroup -o "$controllers" cgroup "$folder"
  done
else
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  # A group with processes cannot have groups with limits below it.
  mkdir sys/fs/cgroup/engine
  echo $$ >sys/fs/cgroup/engine/cgroup.procs
  sed 's/\(^\| \)/ +/g' sys/fs/cgroup/cgroup.controllers >sys/fs/cgroup/cgroup.subtree_control
fi

pivot_root . before
umount -l before
ip link set lo up
exec dockerd --host unix:///run/docker.sock --data-root /data --storage-driver overlay2
