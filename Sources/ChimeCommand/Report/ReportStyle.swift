/// The style sheet of a report.
///
/// Light and dark themes, one accent color per chapter. Both tones of each accent have a contrast of 4.5 to 1 on the
/// page, on a card and on the accent's own tint (WCAG 2.2, 1.4.3). Fonts are the system's.
enum ReportStyle {
  static let text: StaticString = """
    :root{color-scheme:light dark;
    --page:#f5f2ec;--card:#fffdf9;--ink:#22303a;--soft:#57646e;--line:#e2dbcf;--shade:#efe9df;--on:#fffdf9;
    --teal:#0d6577;--plum:#77407a;--leaf:#3b6733;--amber:#7d5210;--rose:#a0324b;--slate:#3d5783;
    --serif:"Iowan Old Style","Palatino Nova",Palatino,"URW Palladio L",P052,"Book Antiqua",Georgia,"Noto Serif","DejaVu Serif",serif;
    --sans:system-ui,-apple-system,"Segoe UI",Inter,Cantarell,"Noto Sans",Ubuntu,"DejaVu Sans",sans-serif;
    --gap:clamp(.75rem,2.2vw,1.25rem);--round:14px}
    @media (prefers-color-scheme:dark){:root{
    --page:#12181d;--card:#1a2228;--ink:#e9e6de;--soft:#a6b0b7;--line:#2e3941;--shade:#232d34;--on:#12181d;
    --teal:#6cc4d3;--plum:#d2a2d6;--leaf:#9cc98e;--amber:#e1b569;--rose:#f097a7;--slate:#9fb8e4}}
    *{box-sizing:border-box}
    html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
    @media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
    body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.55 var(--sans);font-variant-numeric:tabular-nums;
    overflow-wrap:break-word;--accent:var(--slate)}
    .teal{--accent:var(--teal)}.plum{--accent:var(--plum)}.leaf{--accent:var(--leaf)}
    .amber{--accent:var(--amber)}.rose{--accent:var(--rose)}.slate{--accent:var(--slate)}
    .wrap{max-width:70rem;margin:0 auto;padding:0 clamp(1rem,4vw,2.5rem)}
    h1,h2,h3,h4,p,ul,ol,dl,dd,figure,blockquote{margin:0;padding:0}ul,ol{list-style:none}
    h1,h2,h3{font-family:var(--serif);font-weight:600;line-height:1.15;text-wrap:balance}
    h1{font-size:clamp(2rem,6vw,3.25rem);letter-spacing:-.015em}
    h2{font-size:clamp(1.6rem,4vw,2.15rem);letter-spacing:-.01em}
    h3{font-size:1.25rem}h4{font-size:.95rem;font-weight:600}
    a{color:inherit;text-decoration-color:var(--accent);text-underline-offset:.2em}
    :focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:4px}
    .skip{position:absolute;left:1rem;top:-4rem;background:var(--ink);color:var(--page);padding:.6rem 1rem;z-index:2}
    .skip:focus{top:1rem}
    .unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
    .jobs{list-style:none;display:grid;gap:.9rem}.jobs li{display:grid;grid-template-columns:minmax(8rem,1fr) minmax(0,2fr) auto;gap:.25rem 1rem;align-items:center}
    .jobs .down strong{color:var(--rose)}.beats{display:flex;gap:2px;justify-content:flex-end}.beats i{width:.5rem;height:1.25rem;border-radius:2px;background:var(--leaf)}
    .beats .failed,.beats .missed{background:var(--rose)}.beats .missed{opacity:.55}@media (max-width:40rem){.jobs li{grid-template-columns:1fr}.beats{justify-content:flex-start}}
    .kicker{color:var(--soft);font-size:.85rem}
    .soft{color:var(--soft)}
    .pill{display:inline-block;border:1px solid var(--accent);color:var(--accent);border-radius:1rem;padding:0 .6rem;font-size:.78rem}
    .week .number{display:block;color:var(--soft);font-size:.8em}
    .toward{color:var(--accent);font-weight:600}.toward .soft{font-weight:400}
    svg{display:block;overflow:visible}

    .mast{padding:clamp(2rem,6vw,4rem) 0 0}
    .mast-in{display:grid;gap:clamp(1.5rem,4vw,3rem);grid-template-columns:minmax(0,1.25fr) minmax(0,1fr);align-items:end}
    .mast h1{margin:.5rem 0 .75rem}.mast .message{font-size:1.1rem;max-width:36em}
    .quote{border-inline-start:3px solid var(--accent);padding-inline-start:1.25rem}
    .quote p{font-family:var(--serif);font-size:1.15rem;line-height:1.5}
    .quote [dir=rtl]{font-size:1.7rem;line-height:1.75;text-align:start}
    .quote blockquote>*+*{margin-top:.4rem}
    .quote figcaption{color:var(--soft);font-size:.85rem;margin-top:.5rem}
    .week{display:grid;grid-template-columns:repeat(7,minmax(0,1fr));gap:.25rem;margin:clamp(1.5rem,4vw,2.5rem) 0 0;
    padding:1rem clamp(.25rem,2vw,1.25rem);background:var(--card);border:1px solid var(--line);border-radius:var(--round)}
    .week li{text-align:center;font-size:.85rem;line-height:1.35}
    .week svg{width:min(3.1rem,86%);margin:.3rem auto}
    .week .now .name{font-weight:700;color:var(--accent);box-shadow:0 2px 0 var(--accent)}
    .ring-back{fill:none;stroke:var(--shade);stroke-width:5}.ring{fill:none;stroke:var(--accent);stroke-width:5;stroke-linecap:round}
    .tick{fill:none;stroke:var(--accent);stroke-width:3;stroke-linecap:round;stroke-linejoin:round}
    nav{border-block:1px solid var(--line);margin-top:clamp(1.5rem,4vw,2.5rem)}
    nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.75rem;padding:.35rem 0}
    nav a{display:inline-block;padding:.45rem 0;text-decoration:none}
    nav a:hover{text-decoration:underline}
    .dot{display:inline-block;width:.55em;height:.55em;border-radius:50%;background:var(--accent);margin-inline-end:.5em}

    main>section{padding:clamp(2rem,6vw,3.75rem) 0 0}
    .head{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1rem;margin-bottom:var(--gap)}
    .head h2{color:var(--accent)}
    .part{margin-top:clamp(1.75rem,4vw,2.5rem)}.part>h3{margin-bottom:.25rem}
    .part>.kicker{margin-bottom:.9rem}.part.bare{margin-top:0}.level+.part.bare{margin-top:1.25rem}
    .card{background:var(--card);border:1px solid var(--line);border-radius:var(--round);padding:clamp(1rem,2.6vw,1.5rem);min-width:0}
    .stack>*+*{margin-top:var(--gap)}
    .today{display:grid;gap:var(--gap);grid-template-columns:repeat(auto-fill,minmax(min(100%,15rem),1fr))}
    .today li{display:flex;gap:1rem;align-items:center}
    .today li>div{min-width:0;flex:1}.today .state{font-size:1.05rem}
    .today .mark{width:3.5rem;flex:none}
    .today .row{grid-column:1/-1;flex-wrap:wrap;gap:.75rem 2.5rem}.today .row>div{flex:1 1 15rem}.row .bar{margin-bottom:.4rem}
    @media (min-width:44rem){.today .row:nth-child(2){grid-column:2/-1}}
    .today .wide{grid-row:span 2;flex-direction:column;align-items:stretch;text-align:center}
    .cup{width:min(10.5rem,72%);margin:0 auto .25rem}
    .cup-glass{fill:none;stroke:var(--accent);stroke-width:3;stroke-linejoin:round}.cup-air{fill:var(--shade)}
    .cup-water{fill:var(--accent)}.cup-back{opacity:.4}.cup-front{opacity:.75}
    .cup-line{stroke:var(--accent);stroke-width:2;opacity:.55}
    @media (prefers-reduced-motion:no-preference){.cup-back{animation:wave 9s linear infinite reverse}
    .cup-front{animation:wave 6s linear infinite}@keyframes wave{to{transform:translateX(-80px)}}}
    .big{font-family:var(--serif);font-size:2rem;line-height:1.1}
    .level{display:grid;gap:.4rem;max-width:26rem}
    .bar{display:block;height:.6rem;border-radius:1rem;background:var(--shade);overflow:hidden}
    .bar i{display:block;height:100%;border-radius:1rem;background:var(--accent)}

    .tiles{display:grid;gap:1px;grid-template-columns:repeat(auto-fit,minmax(8.6rem,1fr));background:var(--card);
    border:1px solid var(--line);border-radius:var(--round);overflow:hidden}
    .tiles div{padding:.85rem 1rem;box-shadow:0 0 0 1px var(--line)}
    .tiles dt{font-size:.8rem;color:var(--soft)}.tiles dd{font-family:var(--serif);font-size:1.25rem;line-height:1.3}
    .tiles small{display:block;font:400 .8rem/1.35 var(--sans);color:var(--soft)}

    .plot{display:grid;gap:.5rem}
    .plot-area{position:relative;margin:1.4rem 0 1.6rem 3.1rem;height:clamp(13rem,34vw,19rem)}
    .plot-area svg{position:absolute;inset:0;width:100%;height:100%}
    .plot-area .y,.plot-area .x,.plot-area .flag,.plot-area .unit{position:absolute;font-size:.75rem;line-height:1;color:var(--soft);white-space:nowrap}
    .plot-area .y{right:calc(100% + .6rem);transform:translateY(-50%)}
    .plot-area .unit{right:calc(100% + .6rem);bottom:calc(100% + .5rem);font-weight:600}
    .plot-area .x{top:calc(100% + .55rem);transform:translateX(-50%)}
    .plot-area .x:last-of-type{transform:translateX(-50%)}
    .plot-area .flag{bottom:100%;transform:translate(-50%,-.2rem);color:var(--accent);font-weight:600}
    .grid{stroke:var(--line);stroke-width:1;fill:none}.grid,.raw,.mean,.ahead,.goal-line,.flag-line{vector-effect:non-scaling-stroke}
    .raw{stroke:var(--accent);stroke-width:5;stroke-linecap:round;opacity:.38;fill:none}.raw.few{stroke-width:9;opacity:1}
    .mean{stroke:var(--accent);stroke-width:2.75;fill:none;stroke-linejoin:round;stroke-linecap:round}
    .ahead{stroke:var(--accent);stroke-width:2;fill:none;stroke-dasharray:3 5;stroke-linecap:round}
    .band{fill:var(--accent);opacity:.16}.goal-line{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:7 5;fill:none}
    .flag-line{stroke:var(--accent);stroke-width:1;stroke-dasharray:1 4;fill:none}
    .column{fill:var(--accent);opacity:.35}.column.met{opacity:.85}
    .legend{display:flex;flex-wrap:wrap;gap:.2rem 1.25rem;font-size:.8rem;color:var(--soft)}
    .legend svg{display:inline-block;width:1.6rem;height:.8rem;vertical-align:-.1rem;margin-inline-end:.45rem}

    .months{display:grid;grid-template-columns:repeat(12,minmax(0,1fr));gap:1rem .9rem;margin-top:.9rem}
    .heat p{font-size:.75rem;color:var(--soft);margin-bottom:.3rem;line-height:1.2}
    .d{fill:var(--shade)}.d0{fill:var(--shade);stroke:var(--soft);stroke-opacity:.35}
    .d1{fill:var(--accent);fill-opacity:.3}.d2{fill:var(--accent);fill-opacity:.52}.d3{fill:var(--accent);fill-opacity:.74}
    .d4{fill:var(--accent)}.dx{fill:none;stroke:var(--line)}.now-day{fill:none;stroke:var(--soft);stroke-width:1.5}
    .gardens{display:grid;gap:var(--gap);grid-template-columns:repeat(auto-fill,minmax(min(100%,18rem),1fr))}
    .garden h4{margin-bottom:.15rem}.garden p{font-size:.85rem;color:var(--soft);margin-bottom:.75rem}
    .garden text{font:600 12px var(--sans);text-anchor:middle}.garden .wd{font-size:10px;font-weight:400;fill:var(--soft)}
    .petal{fill:var(--accent);fill-opacity:.32}.heart{fill:var(--accent)}.heart-number{fill:var(--on)}
    .bud{fill:none;stroke:var(--soft);stroke-width:1.25;stroke-dasharray:2.5 2.5}.bud-number{fill:var(--soft)}
    .seed{fill:var(--line)}.rim{fill:none;stroke:var(--accent);stroke-width:1.25}
    .plan circle{fill:none;stroke:var(--line);stroke-width:1.5;stroke-dasharray:none}.plan text{fill:var(--soft);stroke:none}
    .plan.done circle{fill:var(--accent);stroke:var(--accent)}.plan.done text{fill:var(--on)}
    .plan.upcoming circle,.plan.today circle{stroke:var(--accent)}.plan.upcoming text,.plan.today text{fill:var(--ink)}
    .plan.today circle{stroke-width:3}.plan.missed circle{stroke-dasharray:2.5 2.5;stroke:var(--soft)}

    .groups{display:flex;flex-wrap:wrap;gap:1.75rem 2.25rem}.badges{display:flex;flex-wrap:wrap;gap:1.25rem .75rem}
    .badges li{width:8.25rem;text-align:center;font-size:.8rem;line-height:1.35;color:var(--soft)}
    .badges svg{width:5.25rem;margin:0 auto .4rem}.badges strong{display:block;color:var(--ink);font-size:.9rem;line-height:1.25}
    .badges .when{display:block;color:var(--accent);font-weight:600}
    .hex{fill:var(--accent)}.hex-in{fill:none;stroke:var(--on);stroke-width:1.5;opacity:.5}
    .hex-off{fill:var(--shade);stroke:var(--line);stroke-width:5;stroke-linejoin:round}
    .hex-way{fill:none;stroke:var(--accent);stroke-width:5;stroke-linejoin:round;stroke-linecap:round}
    .hex-sign{font:600 27px var(--serif);text-anchor:middle;fill:var(--on)}.locked .hex-sign{fill:var(--soft)}
    .hex-icon{fill:none;stroke:var(--on);stroke-width:2.5;stroke-linecap:round;stroke-linejoin:round}
    .locked .hex-icon{stroke:var(--soft)}
    .to-come{display:none}
    .group h4{margin-bottom:.9rem}.group h4 span{color:var(--soft);font-weight:400}

    .worn{display:grid;gap:.55rem}
    .worn li{display:grid;grid-template-columns:minmax(6rem,15rem) minmax(0,1fr) 3rem;gap:.15rem .9rem;align-items:center}
    .worn .n{text-align:end}.worn .bar{height:.9rem;border-radius:3px}.worn .bar i{border-radius:3px}
    .worn .soft{font-size:.8rem;display:block}
    .photo{display:block;width:3.2rem;aspect-ratio:1;border-radius:8px;background:var(--shade) center/cover no-repeat;flex:none}
    .worn .photo{float:inline-start;width:2.4rem;margin-inline-end:.6rem}.worn .gone{opacity:.75}
    .wears{display:grid;gap:1rem 2rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));margin:.6rem 0 1rem}
    .wear{display:grid;grid-template-columns:repeat(7,minmax(0,1fr));gap:2px}
    .wear li{min-height:2.6rem;border-radius:6px;background:var(--shade);padding:.1rem .25rem;font-size:.75rem;line-height:1.25}
    .wear .wd{background:none;min-height:0;color:var(--soft);text-align:center}.wear .soft{display:block}
    .wear b,.letters b{color:var(--accent);font-size:.95rem}.wear .now{box-shadow:0 0 0 2px var(--soft)}
    .shots{display:grid;gap:var(--gap);grid-template-columns:repeat(auto-fill,minmax(min(45%,8rem),1fr))}
    .shots .photo{width:100%}.shots span{display:block;font-size:.85rem}
    .pair{display:grid;gap:var(--gap);grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr))}
    .pair h4{margin-bottom:.9rem}
    .stones{display:grid;gap:var(--gap);grid-template-columns:repeat(auto-fill,minmax(min(100%,16rem),1fr))}
    .stones img{width:100%;max-height:16rem;object-fit:cover;border-radius:8px;display:block;margin-bottom:.75rem}
    .above{margin-bottom:.6rem}.chips{display:flex;flex-wrap:wrap;gap:.5rem}.chips+.stones{margin-top:var(--gap)}
    .chips li{background:var(--card);border:1px solid var(--line);border-radius:2rem;padding:.3rem .9rem;font-size:.88rem}
    .stones .name{font-weight:600}.stones .kicker{margin:0}.stones p+p{margin-top:.35rem}
    details{border-top:1px solid var(--line);margin-top:1rem;padding-top:.6rem;font-size:.9rem}
    summary{cursor:pointer;color:var(--soft);padding:.3rem 0;width:fit-content}
    .scroll{max-height:24rem;overflow:auto;margin-top:.5rem}
    table{border-collapse:collapse;width:100%;font-size:.88rem}
    th,td{text-align:end;padding:.4rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
    th:first-child,td:first-child{text-align:start;padding-inline-start:0}
    thead th{position:sticky;top:0;background:var(--card);color:var(--soft);font-weight:600}
    tbody th{font-weight:400;white-space:nowrap}
    .empty{border-style:dashed;color:var(--soft)}code{font-size:.9em;color:var(--ink)}
    footer{margin-top:clamp(2.5rem,7vw,4.5rem);border-top:1px solid var(--line);padding:1.5rem 0 3rem;font-size:.85rem;color:var(--soft)}
    footer p+p{margin-top:.35rem}

    @media (max-width:64rem){.months{grid-template-columns:repeat(6,minmax(0,1fr))}}
    @media (max-width:44rem){.mast-in{grid-template-columns:minmax(0,1fr)}.minor{display:none}
    .plot-area{margin-left:2.6rem}.badges li{width:calc(50% - .375rem)}.group{width:100%}.worn li{grid-template-columns:minmax(0,1fr) 3rem}.worn .bar{grid-column:1/-1;grid-row:2}
    .months{grid-template-columns:repeat(4,minmax(0,1fr))}.week{padding-inline:.25rem}.week li{font-size:.75rem}}
    @media print{:root{color-scheme:light;--page:#fff;--card:#fff;--ink:#1c262d;--soft:#55616a;--line:#d8d2c8;--shade:#efeae2;--on:#fff;
    --teal:#0d6577;--plum:#77407a;--leaf:#3b6733;--amber:#7d5210;--rose:#a0324b;--slate:#3d5783}
    @page{margin:10mm}body{font-size:8pt;line-height:1.35}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
    nav,.skip,details:not([open]),.group.locked,.badges .locked,.badges li>span:not(.when),.plot-area .minor{display:none}
    .wrap{max-width:none;padding:0;columns:2;column-gap:6mm}.mast,#today{column-span:all}.mast{padding-top:0}
    .mast-in{gap:6mm;grid-template-columns:minmax(0,1.25fr) minmax(0,1fr)}.mast h1{font-size:16pt;margin:.5mm 0 1mm}.mast .message{font-size:9pt}
    .quote{padding-inline-start:3mm}.quote p{font-size:8.5pt;line-height:1.3}.quote [dir=rtl]{font-size:11pt;line-height:1.5}
    .quote figcaption{font-size:7pt;margin-top:1mm}.pill{font-size:6.5pt;padding:0 1.5mm}.shots{grid-template-columns:repeat(2,minmax(0,1fr));gap:2mm}.shots span{font-size:6.5pt}
    .week{margin:3mm 0;padding:1.5mm}.week svg{width:8mm;margin:.5mm auto}.week li{font-size:7pt}
    main>section{padding:0 0 4mm}.stack>*+*,.chips+.stones{margin-top:2mm}.part{margin-top:3mm}.part>.kicker,.head,.group h4,.pair h4{margin-bottom:1mm}
    h2{font-size:13pt}h3{font-size:10pt}h4{font-size:8pt}.kicker,.tiles dt,.tiles small,.legend{font-size:7pt}
    .card{padding:2mm 2.5mm;border-radius:2mm}.empty{padding:1mm 2.5mm}.empty p{display:inline;margin-inline-end:1mm}
    .today{grid-template-columns:repeat(4,minmax(0,1fr));gap:2mm}.today li{gap:2mm}.today h3{font-size:9pt}.today .mark{width:8mm}.today .state{font-size:8pt}
    .big{font-size:11pt}.today .wide{flex-direction:row;text-align:start;grid-row:auto}.today .cup{width:16mm}.cup-back,.cup-front{animation:none}
    .tiles{grid-template-columns:repeat(4,minmax(0,1fr))}.tiles div{padding:1mm 1.5mm}.tiles dd{font-size:9.5pt}.level{gap:1mm}.bar{height:1.5mm}
    .plot-area{height:30mm;margin:4mm 0 4mm 8mm}.plot-area .unit{bottom:calc(100% + 1.2mm)}.plot-area .y,.plot-area .x,.plot-area .flag,.plot-area .unit{font-size:6pt}
    .months{grid-template-columns:repeat(12,minmax(0,1fr));gap:1mm;margin-top:1mm}.heat p{font-size:4.5pt;margin-bottom:.5mm}
    .gardens{grid-template-columns:repeat(3,minmax(0,1fr));gap:2mm}.garden h4{font-size:7pt}.garden p{font-size:6pt;margin-bottom:1mm}
    .wears{grid-template-columns:repeat(2,minmax(0,1fr));margin:1mm 0;gap:1.5mm 3mm}.wear{gap:.3mm}.wear b,.letters b{font-size:7pt}
    .wear li{min-height:6mm;padding:0 .5mm;border-radius:1mm;font-size:5pt}.wear .wd{padding:0;white-space:nowrap;overflow:hidden}
    .groups{gap:1.5mm 3mm}.group{width:auto}.badges{gap:1mm}.badges li{width:16mm;font-size:6pt;line-height:1.2}.badges svg{width:8mm;margin-bottom:.5mm}
    .badges strong{font-size:6.5pt}.to-come{display:block;width:100%;font-size:7pt;line-height:1.3;color:var(--soft)}.hex,.d4,.heart{fill-opacity:.9}
    .pair{grid-template-columns:minmax(0,1fr)}.worn{gap:.5mm}.worn .soft{display:inline;font-size:7pt;margin-inline-start:1mm}.worn .bar{height:1.5mm}
    .worn li{grid-template-columns:minmax(0,1fr) 25mm 8mm}.stones{grid-template-columns:repeat(2,minmax(0,1fr));gap:2mm}.stones img{max-height:25mm;margin-bottom:1mm}
    .chips{gap:1mm}.chips li{padding:.3mm 2mm;font-size:7pt}.scroll{max-height:none;overflow:visible}
    h2,h3,h4,.kicker,.head{break-after:avoid}.card,.badges li,.tiles,.tiles div,.stones li,.group,.garden,.heat,tr{break-inside:avoid}.card.groups{break-inside:auto}
    footer{margin-top:3mm;padding:1.5mm 0 0;font-size:6.5pt}}
    """
}
