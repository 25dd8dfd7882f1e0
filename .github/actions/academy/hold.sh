# Tells who it runs for, where and with which key, and keeps the academy until a signal ends it.
echo "$PPID"
echo "$LEARNCTL_URL"
echo "$LEARNCTL_API_KEY"
exec > /dev/null
trap 'kill $! 2> /dev/null; exit' TERM INT HUP
while true; do
  sleep 3600 &
  wait $!
done
