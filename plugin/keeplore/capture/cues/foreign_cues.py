"""The surest of the cue phrases of ``cues`` and ``outcome_cues`` in Chinese, German, Spanish and
French, as data.

Of a language that is not here only the opening request is quoted: no cue is better than a wrong
one. OPENED stands for the small words before the point of a sentence.
"""

from __future__ import annotations

from keeplore.capture.cues.cue_patterns import Cue
from keeplore.capture.cues.cue_patterns import cue as _cue

_OPENED = (
    r"\A(?:(?:ok(?:ay)?|ja|nein|gut|genau|also|dann|und|aber|bitte|alles klar|"
    r"sí|si|no|vale|bien|bueno|entonces|y|pero|perfecto|claro|"
    r"oui|non|bon|bien|alors|et|mais|d'accord|parfait|donc|du coup)[,.;:!—–-]*\s+)*"
)


def cue(weight: float, *patterns: str) -> Cue:
    return _cue(weight, *(pattern.replace("OPENED", _OPENED) for pattern in patterns))


DECIDED: tuple[Cue, ...] = (
    cue(
        3.0,
        r"(?:最终|最后|已经|我们?|咱们)决定(?:了|使用|采用|用|不|改|把|先|保留|去掉|放弃)",
        r"\A决定[:：]",
        r"\b(?:wir|ich) (?:haben|habe) (?:uns|mich) .{0,60}\b(?:entschieden|geeinigt|festgelegt)\b",
        r"\A(?:entscheidung|decisión|décision) ?:",
        r"\b(?:hemos|he|habíamos) (?:decidido|acordado)\b|\b(?:decidimos|acordamos) (?!si\b)\w+",
        r"\b(?:on a|nous avons|j'ai) (?:décidé|convenu|choisi) (?:de|d'|que)",
    ),
    cue(
        2.7,
        r"(?:\A|[，,。])(?:好的?[，,]?|行[，,]?|可以[，,]?|嗯[，,]?)?(?:那|我们)?(?:就|还是)(?:用|采用|选择?|使用|"
        r"保留|改用|改成|换成|放在)",
        r"(?:改用|换成|改成|采用|选择|使用|用).{1,30}(?:而不是|代替|替代|[，,]不要?用)",
        r"OPENEDwir (?:nehmen|verwenden|nutzen|benutzen|behalten|bleiben bei|setzen auf|wechseln "
        r"(?:zu|auf)|"
        r"streichen|"
        r"verzichten auf)\b",
        r"OPENED(?:nehmen|nutzen|verwenden|behalten|lassen|streichen) wir\b",
        r"OPENEDlass(?:t)? uns .{2,80}\b(?:nehmen|verwenden|nutzen|benutzen|behalten|"
        r"umstellen|wechseln|streichen|"
        r"weglassen|"
        r"bleiben)\b",
        r"OPENED(?:vamos a (?:usar|utilizar|dejar|mantener|quitar|cambiar|seguir "
        r"con)|usemos|dejemos|mantengamos|"
        r"quitemos|"
        r"nos quedamos con|usaremos|utilizaremos)\b",
        r"OPENED(?:on va (?:utiliser|garder|prendre|rester sur|passer à|supprimer|partir "
        r"sur)|utilisons|gardons|"
        r"prenons|"
        r"restons sur|passons à|supprimons|on (?:garde|prend|part sur|reste "
        r"sur|utilise|supprime))\b",
    ),
    cue(
        2.4,
        r"OPENED(?:nimm|nehmt|verwende|benutze?|nutze|behalte|mach|schreib|leg)\b.{2,90}\b(?:statt|"
        r"anstatt|anstelle|"
        r"nicht)\b",
        r"\b(?:wir|ich) (?:möchten?|wollen|will|würden?|nehme|nehmen) lieber\b",
        r"OPENED(?:usa|utiliza|pon|guarda|deja|mejor usa)\b.{2,90}\b(?:en (?:lugar|vez) de|y no)\b",
        r"\b(?:prefiero|preferimos)\b(?! (?:saber|ver))",
        r"OPENED(?:utilise[rz]?|prends|prenez|mets|mettez|garde[rz]?)\b.{2,90}\b(?:plutôt que|au "
        r"lieu d|et non|"
        r"pas)\b",
        r"\b(?:je préfère|nous préférons|on préfère)\b(?! (?:savoir|voir))",
    ),
    cue(
        2.1,
        r"\A(?:请)?(?:不要|别|禁止|不得|不允许)(?:再)?(?:使用|用|修改|改动|删除|添加|引入|硬编码|依赖|缓存)",
        r"(?:必须|一律|统一|始终|永远|总是)(?:使用|用|采用|保持|放在|返回|为)",
        r"OPENED(?:immer|niemals|nie|ab jetzt|ab sofort|grundsätzlich)\b.{6,}",
        r"\b(?:muss|müssen|darf|dürfen)\b.{3,80}\b(?:bleiben|sein|werden|nicht|keine?n?)\b",
        r"OPENED(?:siempre|nunca|jamás|a partir de ahora|de ahora en adelante)\b.{6,}",
        r"\b(?:tiene|tienen|debe|deben) (?:que )?(?:ser|estar|quedar|"
        r"seguir|mantener|usar|devolver)\b",
        r"OPENED(?:toujours|jamais|désormais|à partir de maintenant|dorénavant)\b.{6,}",
        r"\b(?:doit|doivent) (?:être|rester|toujours|utiliser|renvoyer|garder)\b|\bne "
        r"(?:doit|doivent) (?:pas|"
        r"jamais)\b",
    ),
)
SETTLED_IN_REPLY: tuple[Cue, ...] = (
    cue(
        1.8,
        r"\A[^，。？?]{2,20}(?:使用|采用|改为|改成|放到?在)[^？?吗]{2,}\Z",
        r"(?:\A|[，,])[^，,。？?]{1,12}(?:先不(?:考虑|做|用|改)|都(?:做|要|用|改))",
        r"OPENED(?:nimm|nehmt|verwende|benutze?|nutze|behalte|lass|setze?|"
        r"kürze?|streiche?|ersetze?) (?!uns\b)\w.{6,}",
        r"\A(?:bitte )?kein(?:e|en|er)? .{2,60}\bbitte\b",
        r"\A(?:usa|utiliza|deja|quita|pon|cambia|utilise|garde|prends|mets|enlève|supprime) "
        r"\w.{6,}",
    ),
    cue(
        2.2,
        r"OPENEDwir (?:machen|lassen|brauchen kein\w*) (?!(?:weiter|morgen|später|"
        r"das|es)\b)\w.{4,}",
    ),
)
PUT_OFF: tuple[Cue, ...] = (
    cue(
        2.6,
        r"先(?:放着|放一放|不管|搁置)|等.{1,14}再(?:说|看|做|定|处理)",
        r"\b(?:kläre?|frage?|bespreche?) ich\b.{0,40}\bmit\b|\b(?:lassen|machen|verschieben) "
        r"wir\b.{0,40}\b(?:später|"
        r"auf (?:morgen|nächste))\b",
        r"\b(?:lo )?dejamos para (?:luego|después|más tarde)\b|\bon (?:laisse|verra) (?:ça )?pour "
        r"plus tard\b",
    ),
)
UNDECIDED = (
    (
        r"(?:吗|呢|吧)?[?？]|吗[。.]?\Z|是不是|是否|要不要|能不能|可不可以|可能|也许|或许|好像|不确定|不知道|(?<!不)考虑|如果|"
        r"假如|要是|怎么|为什么|哪个|待定|例如|比如|还没"
    ),
    (
        r"\b(?:vielleicht|eventuell|möglicherweise|unsicher|weiß nicht|überlege\w*|wahrscheinlich|"
        r"könnten?|wäre|"
        r"angenommen|zum beispiel|noch nicht|warum|ob)\b|\A\W*(?:wenn|falls "
        r"(?:d[aeiu]\w|es|wir|man|ich|sie))\b"
    ),
    (
        r"\b(?:quizás?|tal vez|a lo mejor|posiblemente|no (?:estoy segur[oa]|sé)|podríamos?|"
        r"sería|suponiendo|"
        r"por ejemplo|"
        r"todavía no|aún no|por qué)\b|¿|\A\W*(?:si|cuando) "
    ),
    (
        r"\b(?:peut-être|éventuellement|possiblement|pas sûre?|sais pas|pourrait|pourrions|"
        r"serait|supposons|"
        r"par exemple|"
        r"pas encore|pourquoi|est-ce qu)\b|\A\W*(?:si|quand) "
    ),
)
AFFIRMED = (
    r"\A\W*(?:好的?|可以|行|是的?|对|没问题|同意|就这样|确认|嗯|赞成|就这么办)(?:[\s，。,.!！；;]+|\Z)",
    (
        r"\A\W*(?:ja|jo|genau|passt|einverstanden|gut|klingt gut|mach das|gerne|alles "
        r"klar|stimmt|richtig|"
        r"sí|vale|de acuerdo|perfecto|claro|hazlo|adelante|me parece bien|suena bien|correcto|"
        r"oui|d'accord|parfait|vas-y|allez-y|ça marche|ça me va|très bien)(?:[\s,.!;:—–-]+|\Z)"
    ),
)
HEDGED = (
    (
        r"但|不过|然而|先|除了|？|\b(?:aber|jedoch|erst|zuerst|lieber|statt|nicht|pero|aunque|"
        r"primero|mejor|mais|d'abord|"
        r"plutôt)\b"
    ),
)
PROPOSED: tuple[Cue, ...] = (
    cue(
        2.8,
        r"\A(?:我)?(?:建议|推荐)(?!的|如下|：|:)|我会选择?|最好的?(?:办法|方案|选择)是",
        r"\b(?:ich (?:würde|empfehle|schlage vor)|mein vorschlag|meine empfehlung|am besten "
        r"(?:wäre|ist))\b",
        r"\b(?:recomiendo|recomendaría|sugiero|propongo|mi (?:recomendación|propuesta)|lo mejor "
        r"(?:es|sería))\b",
        r"\b(?:je (?:recommande|conseille|suggère|propose)|ma (?:recommandation|proposition)|le "
        r"mieux (?:est|"
        r"serait))\b",
    ),
)
CONTEXT: tuple[Cue, ...] = (
    cue(
        2.3,
        r"(?:目前|现在|当前)|(?:问题|目标|背景|需求|现象)(?:是|在于|为)",
        r"\b(?:das|mein|unser) (?:problem|ziel|fehler|hintergrund) "
        r"(?:ist|war|liegt)\b|\b(?:derzeit|momentan|aktuell|"
        r"im moment|zurzeit|bisher)\b",
        r"\b(?:el|mi|nuestro) (?:problema|objetivo|error|contexto) "
        r"(?:es|era|está)\b|\b(?:actualmente|ahora mismo|"
        r"por ahora|hasta ahora)\b",
        r"\b(?:le|mon|notre|l')\s?(?:problème|but|objectif|erreur|contexte) "
        r"(?:est|était)\b|\b(?:actuellement|"
        r"en ce moment|"
        r"pour l'instant|jusqu'ici)\b",
    ),
    cue(
        1.7,
        r"报错|出错|失败|不生效|无法|不能|崩溃|卡住|太慢|很慢|没有反应|异常|错误|(?:我们?)?(?:想要?|希望|需要|打算|"
        r"正在)",
        r"\b(?:schlägt fehl|funktioniert nicht|geht nicht|stürzt ab|kaputt|hängt|ich "
        r"(?:möchte|brauche|hätte gern)|"
        r"wir (?:wollen|brauchen|möchten))\b",
        r"\b(?:falla|fallan|no funciona|no va|roto|muy lento|se cuelga|(?:quiero|queremos|"
        r"necesito|necesitamos|"
        r"me gustaría))\b",
        r"\b(?:échoue|ne (?:marche|fonctionne) pas|plante|erreur|cassé|trop lente?|je "
        r"(?:veux|voudrais)|"
        r"j'(?:aimerais|ai besoin)|"
        r"nous (?:voulons|avons besoin)|on (?:veut|a besoin))\b",
    ),
)
REASON: tuple[Cue, ...] = (
    cue(
        2.6,
        r"因为|由于|之所以|否则|以免|为了避免",
        r"\b(?:weil|andernfalls|deshalb|deswegen|aufgrund)\b|, (?:denn|damit|sonst)\b",
        r"\b(?:porque|debido a|ya que|de lo contrario|por eso|para que no)\b",
        r"\b(?:parce qu|à cause d|sinon\b|c'est pourquoi|puisqu|afin d'éviter)|, car (?!\w+ing)\w+",
    ),
    cue(
        2.0,
        r"更(?:简单|安全|快|稳定)|太(?:慢|复杂|重)|没有?必要",
        r"\b(?:einfacher|sicherer|schneller|zu (?:langsam|komplex|teuer)|vermeidet|verhindert)\b",
        r"\b(?:más (?:simple|sencillo|seguro|rápido)|demasiado (?:lento|complejo|caro)|evita)\b",
        r"\b(?:plus (?:simple|sûr|rapide)|trop (?:lent|complexe|cher)|évite|empêche)\b",
    ),
)
CAUSE: tuple[Cue, ...] = (
    cue(
        3.0,
        r"(?:根本原因|根因|原因)(?:是|在于|[:：])|问题(?:出在|在于)|是由.{1,40}(?:引起|导致|造成)的",
        r"\b(?:ursache|der grund)\b.{0,30}\b(?:ist|war|liegt|lag)\b|\b(?:ursache|problem) ?:|\bdas "
        r"problem (?:war|"
        r"lag|liegt)\b|"
        r"\blag (?:es )?daran\b|\bverursacht durch\b",
        r"\b(?:la causa|el motivo)\b.{0,30}\b(?:es|era|fue|está)\b|\bcausa(?: raíz)? ?:|\bel "
        r"problema (?:era|fue|"
        r"estaba)\b|"
        r"\b(?:causado|provocado) por\b",
        r"\b(?:la cause|la raison)\b.{0,30}\b(?:est|était|vient)\b|\bcause ?:|\ble problème "
        r"(?:était|venait|vient)\b|"
        r"\b(?:causée?|provoquée?) par\b",
    ),
)
DONE: tuple[Cue, ...] = (
    cue(
        2.4,
        r"\A(?:我)?(?:已经?|现已|成功)(?:将|把|在|为|完成|添加|修复|更新|创建|实现|删除|替换|修改|重构|移除|改为|"
        r"统一|合并|提交|推送|"
        r"转换|解决|优化|新增|调整|配置|生成|验证)",
        r"(?:\A|[，,；])(?:添加|修复|更新|创建|实现|删除|替换|修改|重构|移除|新增|完成)了",
        r"\A(?:ich habe|wir haben|habe)\b.{2,160}\b(?:hinzugefügt|behoben|aktualisiert|erstellt|"
        r"implementiert|"
        r"entfernt|ersetzt|"
        r"umbenannt|geändert|angepasst|umgestellt|verschoben|ergänzt|korrigiert|"
        r"gelöscht|eingebaut|repariert|"
        r"geschrieben)\b",
        r"\A(?:he|hemos) (?:añadido|agregado|corregido|actualizado|creado|implementado|"
        r"eliminado|reemplazado|"
        r"cambiado|movido|"
        r"arreglado|renombrado|refactorizado)\b",
        r"\A(?:j'ai|nous avons|on a) (?:ajouté|corrigé|mis à jour|créé|implémenté|supprimé|"
        r"remplacé|changé|modifié|"
        r"déplacé|"
        r"renommé|refactorisé|réparé)\b",
    ),
    cue(
        2.2,
        r"(?:测试|构建|编译|检查)(?:全部|都|已|均)+通过|(?:全部|所有).{0,10}测试.{0,6}通过",
        r"\balle (?:\d+ )?tests (?:laufen|sind grün|bestehen)\b",
        r"\b(?:todos los|todas las|los \d+) (?:tests|pruebas) (?:pasan|están en verde)\b",
        r"\btous les tests passent\b",
    ),
)
OPEN: tuple[Cue, ...] = (
    cue(
        3.0,
        r"(?:尚未|还没有?|仍未|暂未)(?:决定|确定|解决|实现|完成|处理|测试)|待(?:解决|确认|讨论|办)|遗留问题|未解决",
        r"\b(?:noch (?:nicht (?:entschieden|geklärt|gelöst|umgesetzt|getestet)|"
        r"offen|unklar)|bleibt offen|"
        r"offene frage|ungeklärt)\b",
        r"\b(?:(?:todavía|aún) (?:no (?:está )?(?:decidido|resuelto|implementado|probado)|hay que "
        r"decidir)|"
        r"queda pendiente|"
        r"pregunta abierta|sin resolver)\b",
        r"\b(?:pas encore (?:décidé|résolu|implémenté|testé)|reste à (?:décider|faire|voir)|"
        r"question ouverte|"
        r"non résolu)\b",
    ),
    cue(
        2.4,
        r"(?:以后|之后|稍后|后续|下次)再(?:说|看|处理|讨论|决定|做|优化)",
        r"\b(?:klären|entscheiden|machen|kümmern|ansehen|lösen)\b.{0,20}\b(?:später|morgen|nächste "
        r"woche)\b|"
        r"\b(?:später|morgen|nächste woche)\b.{0,40}\b(?:klären|entscheiden|machen|kümmern|"
        r"ansehen|lösen)\b",
        r"\b(?:lo )?(?:vemos|decidimos|resolvemos|dejamos|hacemos)\b.{0,30}\b(?:más "
        r"tarde|después|mañana|para luego|"
        r"otro día)\b",
        r"\b(?:on )?(?:verra|décidera|fera|laisse)\b.{0,30}\b(?:plus tard|demain|après|pour "
        r"l'instant)\b",
    ),
    cue(
        2.0,
        r"不确定(?:是否|要不要|怎么|如何|该)|不知道(?:是否|要不要|怎么|如何|该)",
        r"\b(?:nicht sicher|unklar|keine ahnung),? (?:ob|wie|was|welche\w*|warum|wo)\b",
        r"\bno (?:sé|está claro|estoy segur[oa])(?: de)? (?:si|cómo|qué|cuál|dónde)\b",
        r"\b(?:pas sûre?|pas clair|sais pas|aucune idée)(?: de)? (?:si|comment|quoi|quel\w*|où)\b",
    ),
)
