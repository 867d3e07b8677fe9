# Draws the measurements of each attack's victim: gnuplot -e "folder='.build/proof/attacks'" Tests/attacks.gnuplot
set terminal svg size 1000,2450 font "sans-serif,12" background "#ffffff"
set output folder . "/attacks.svg"
kinds = "none explain list backup import importing uploads restore entries connections endpoints firing"
set multiplot layout words(kinds),2
set grid
set logscale y
set yrange [0.1:1000]
set ylabel "ms"
unset key
do for [kind in kinds] {
  set title kind . ": requests of another (at most 50)"
  plot folder . "/" . kind . ".requests" using 1:($2 > 0.1 ? $2 : 0.1) with points pt 7 ps 0.2 lc rgb "#0969da", 50 lc rgb "#cf222e"
  set title kind . ": lateness of another's reminders (at most 100)"
  plot folder . "/" . kind . ".lateness" using 1:($2 > 0.1 ? $2 : 0.1) with points pt 7 ps 0.3 lc rgb "#1a7f37", 100 lc rgb "#cf222e"
}
unset multiplot
