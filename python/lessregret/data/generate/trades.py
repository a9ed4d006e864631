"""The words of nine trades, the most frequent first, in which the phrase worlds are spelled.

They and their order are made up; no log was counted.
"""

from __future__ import annotations

_TRADES = {
    "auto insurance": (
        "quotes cheap car online rates companies florida texas california compare free coverage "
        "liability teen drivers agent policy claims geico progressive allstate farm state full "
        "vehicle discount military senior sr22 accident deductible renew michigan georgia ohio "
        "monthly low best high risk used truck motorcycle classic collision roadside ticket dui "
        "young student family multi annual"
    ),
    "business cards": (
        "free online print printing templates design cheap custom make order premium glossy own "
        "printable paper holder magnetic logo plastic software full colour raised blank metal "
        "matte photo die cut rounded sample vertical folded embossed foil letterpress real estate "
        "salon lawyer shop fast delivery same day overnight shipping stock double sided"
    ),
    "credit cards": (
        "apply best rewards balance transfer rate low bad no fee annual cash back online student "
        "secured business interest zero visa mastercard discover capital one chase citi american "
        "express platinum travel miles points airline gas compare offers instant approval limit "
        "payment consolidate debt score prepaid unsecured gold bank issuer introductory"
    ),
    "credit report": (
        "free annual score online three bureau equifax experian transunion check my instant "
        "government no card required dispute errors fix repair yearly monitoring fico request copy "
        "get lock freeze identity theft alert fraud history agency official site trial cancel read "
        "understand landlord tenant business correct remove"
    ),
    "forex": (
        "trading online broker currency signals system software demo account platform charts "
        "strategy news rates learn free day market robot euro dollar converter exchange pips "
        "leverage spread indicator course forum review best mini micro managed automated scalping "
        "trader tutorial calendar live technical analysis hedge swing margin profit"
    ),
    "health insurance": (
        "quotes individual family affordable cheap plans small business self employed florida "
        "california texas blue cross shield aetna cigna humana kaiser medicaid medicare ppo hmo "
        "short term student group online rates compare coverage dental vision cobra children "
        "pregnancy preexisting temporary supplemental catastrophic low income companies state "
        "deductible premium agent broker travel international savings account"
    ),
    "life insurance": (
        "term whole quotes rates online no exam medical universal cheap policy companies senior "
        "over fifty calculator compare instant coverage family mortgage burial final expense "
        "variable cash value estate trust settlement agent jobs best children guaranteed accept "
        "smoker diabetic veteran mutual prudential metlife beneficiary tax conversion premium "
        "thirty twenty year level group"
    ),
    "shoe": (
        "store running women men dress sale nike size rack kids storage wide boots tennis dance "
        "black red horse repair stores outlet online adidas puma leather high heel wedding sandals "
        "narrow walking basketball organizer cabinet discount brand shops comfort orthopedic laces "
        "ballet tap golf soccer cleats platform pump canvas vegan designer prom bridal polish "
        "stretcher insoles toddler baby work safety steel toe converse vans clog slip trail"
    ),
    "telefonica": (
        "movistar recarga factura atencion cliente adsl tarifas movil fijo internet linea telefono "
        "numero oficina contrato fibra ofertas empresas prepago saldo router portabilidad "
        "cobertura datos llamadas gratis argentina peru chile colombia mexico brasil vivo "
        "reclamos pagar consulta guia paginas blancas horario empleo acciones cotizacion"
    ),
}
TRADES = {phrase: tuple(words.split()) for phrase, words in _TRADES.items()}
