"""The English wordings of the transient gate, as data: what times a statement, and what makes it a rule."""

import re
from typing import Final

from engine.memory.gates.signs import Moment, Wordings, signs

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_FEW = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|an?|several|some|(?:an? )?few|half)"
_N = rf"(?:\d[\d,.]{{0,12}}|{_FEW})"
_UNIT = r"(?:%|percent|[kmgt]i?b|bytes|°\s?[cf]?|degrees|ms|s|seconds)"
_WHO = r"\b(?:user|we|i|they|he|she|team|agent|assistant)"
_STILL = r"(?: (?:still|now|again|currently|already))?"
_END = r"(?=\s*(?:$|[,:()—–]|(?:because|since|and|but|so|while|due|for|with|until|as)\b))"

# A loose sign in a sentence that speaks of a rule, of a repetition, or of a bound is part of the rule.
STANDING: Final = re.compile(
    r"\b(?:always|never|usually|often|prefers?|likes?|dislikes?|hates?|every|each|any|whenever|when|while|if|must|should"
    r"|shall|may|requires?|by default|default|convention|policy|guidelines?|rules?|from now on|going forward|from \w+ on"
    r"|long-term|no longer|known|weekly|daily|nightly|monthly|yearly|once a|per|at a time|starts? on"
    r"|before (?:\w+ing|commits?|pushes|merges)"
    rf"|(?:{_DAY}|weekday|weekend)s"
    r"|at most|at least|more than|(?<!went )up to|(?:below|above|under|over|after) \d|exceeds?|maximum|minimum|max|min|capacity"
    r"|(?<!rate )limit(?:s|ed)?|threshold|targets?|alerts?|budget|slo|sla|quota|reserved|refuses?"
    r"|label(?:s|led)?|columns?|fields?|no temporary|(?:not|don't) (?:add|use|accept)|avoid|without|will not be"
    r"|(?:is|are) (?:called|named|the names?))\b"
)
EXCEPTED: Final = re.compile(
    r"\b(?:unless|except (?:when|if)|without being asked|such as|for example|e\.g|compar(?:es|ing))\b"
)
NAME_SIGN: Final = re.compile(r"\b(?:for now|right now|just now|this time|just once|at the moment|for the moment)$")

_TALK = r"(?:session|conversation|chat|thread|turn|reply|answer|message|commit|task|pr|pull request|merge request|run)"
_CURRENT = (
    r"(?:tasks?|focus|status|progress|issues?|problem|blockers?|bug|step|goal|sprint|priority|priorities|plan|work|load"
    r"|cpu|situation|branch)"
)
_PAST = (
    r"(?:\w{2,20}ed|ran|got|did|made|wrote|built|sent|set up|put|came|went|took|saw|found|broke|left|read|told|said)"
)
_NO_PAST = r"(?!(?:needed|named|called|used|based|supposed|required|allowed|configured|shared|embedded|linked)\b)"
_LIVE = (
    r"(?:(?:cpu|gpu|memory|ram|heap|swap|disk)(?: usage| load)?|battery(?: level)?|load average|latency|response time"
    r"|temperature|error rate|(?:hit|miss) rate|coverage|(?:queue|backlog)(?: \w+)?)"
)
_LEFT_OPEN = (
    r"(?:pending|open|failing|failed|unread|queued|untracked|uncommitted|unstaged|modified|unmerged|unresolved)"
)
_DONE = (
    r"(?:done|completed?|finished|migrated|converted|ported|translated|merged|approved|covered|passe[sd]|passing|pass)"
)
_BUSY = (
    r"(?:debugging|fixing|investigating|troubleshooting|trying|refactoring|waiting|reviewing|testing|deploying|rebasing"
    r"|checking|editing|struggling|experimenting|pairing|bisecting|profiling|reproducing|finishing|hunting|about to"
    r"|looking (?:at|into|for)|tracking down|wrapping up|working (?:in|on the (?:\w+ )?(?:bug|fix|page|issue|error|test)))"
)
_MOOD = (
    r"(?:frustrated|tired|annoyed|confused|busy|away|sick|unsure|offline|off|in a (?:hurry|meeting|call)"
    r"|on (?:a call|vacation|holiday))"
)
_HANDLED = r"(?:migrated|deployed|restarted|rebuilt|upgraded|restored|installed|reviewed|fixed|prepared|tested|rolled)"
_DOWN = (
    r"(?:broken|down|red|failing|unreachable|unavailable|offline|stuck|hanging|frozen|paused|blocked|stalled|on hold"
    r"|not (?:working|running|responding|reachable|available|started|up|building|compiling)|in progress|under review"
    r"|out of (?:memory|disk|space))"
)
_THIS = (
    r"(?:this|these|those|above|they|the (?:two|three|file|error|stack|logs?|diff|output|trace|results?|script|function"
    r"|failing))"
)
_LOOK = r"(?:explain|summari[sz]e|rename|look|check|find|list|fix|open|debug|investigate|see|review|rerun|run)"

_FIRM: Wordings = {
    Moment.NOW: (
        r"\b(?:right now|for now|for the time being|for the moment|at th(?:e|is) moment|as of (?:now|today)|presently"
        r"|at present|at this (?:point|stage)|tonight|last night|so far(?! as)|later today|not now)\b",
        r"\b(?:this|yesterday|tomorrow) (?:morning|afternoon|evening)\b",
        r"\b(?:yesterday|tomorrow)\b(?!')",
        r"(?:^|[,:]\s{0,3})today\b(?=,| (?:the|we|i|user|they|he|she|our|my|it)\b)",
        r"(?<!\b(?:as|is|or|of) )(?<!than )(?<!ident )(?<!usa )(?<!from )(?<!until )\btoday\b" + _END,
        r"\bcurrently\b(?! (?:selected|active|signed|logged|focused|visible|playing|edited|displayed|checked|hovered)\b)",
        rf"\bcurrent {_CURRENT}\b(?=\s*(?:$|[:=(\d]|(?:is|are)\b"
        r"(?! (?:shown|stored|kept|written|computed|read|listed|held|set|displayed)\b)))",
        r"(?<!from )(?<!until )(?<!till )(?<!by )(?<!is )(?<!are )\bnow\b" + _END,
    ),
    Moment.SESSION: (
        r"\bthis time\b(?! (?:series|zone|stamp|slot|range|format|frame|unit|of))",
        r"\b(?:just|only) (?:this )?once\b",
        rf"\b(?:for|in|during|within|from|of|on) (?:just )?(?:this|the current|today's) {_TALK}\b",
        r"\bgoals? (?:of|for) (?:the|this) session\b",
        r"\bhold off\b",
        r"\b(?:don't|do not|not) [^.,;]{1,40}\byet\b",
    ),
    Moment.JUST_DID: (
        r"\bjust now\b",
        rf"\bjust {_NO_PAST}{_PAST}\b",
        rf"\b{_N} (?:seconds?|minutes?|mins?|hours?|moments?|while) ago\b",
        r"\bearlier (?:today|in (?:this|the) (?:session|conversation|chat))\b",
    ),
    Moment.READING: (
        r"\bpid (?:is |= ?|: ?|#)?\d{1,9}",
        rf"\bport \d{{1,9}} is{_STILL} (?:in use|taken|occupied|busy|blocked)\b",
        r"\b\d[\d,]{0,12} commits? (?:behind|ahead)\b",
    ),
}
_LOOSE: Wordings = {
    Moment.NOW: (
        r"\b(?:try again|writes? (?:it|them)|does? (?:it|that)|discuss(?:ed)?|handled?|decided?) later\b",
        r"\bby (?:the )?end of (?:the )?(?:day|week|month)\b|\beod\b|\bby (?:noon|midnight|tonight)\b",
    ),
    Moment.TEMPORARY: (
        r"\btemporarily\b|\bstop-?gap\b|\b(?:as an|in the) interim\b|\binterim (?:fix|solution|measure)\b",
        r"\b(?:temporary|temp|quick|short-term) (?:fix|work-?around|hack|solution|measure|patch)\b",
        r"\b(?:paused|frozen|disabled|skipped|off|stays?|closed|commented out|used?|using|keep|talks)\b[^.;]{0,60}"
        r"\buntil [^.;]{0,50}\b(?:back|ready|fixed|resolved|over|done|merged|available|finished|repaired|delivers?|lands?)\b",
    ),
    Moment.READING: (
        rf"\b{_LIVE}(?: (?:of|on|for|in) [\w /.-]{{1,40}})?(?: is| are| was)?{_STILL}"
        r"(?: (?:at|down to|up to))?\s?[:=]?\s?\d[\d.,]{0,12}",
        r"\b(?:is|are) (?:at|down to) \d[\d.]{0,12} ?(?:%|percent)",
        r"\b(?:is|are) \d[\d.]{0,12} ?% full\b",
        rf"\b(?:disk|drive|volume|partition|memory)\b[\w ]{{0,40}} is{_STILL} (?:almost |nearly )?full\b",
        rf"\bis (?:using|consuming|eating|taking) \d[\d.,]{{0,12}} ?{_UNIT}",
        rf"\b\d[\d.,]{{0,12}} ?{_UNIT} [\w ]{{0,30}}\b(?:left|free|remaining)\b",
        r"\b(?:dropped|fell|rose|grew|climbed|jumped|went (?:up|down)) (?:\w+ )?to \d",
        rf"\b(?:there are|has|have|are|with) (?:still )?\d[\d,]{{0,12}} {_LEFT_OPEN}\b",
        r"^\s*\d[\d,]{0,12} (?:untracked|uncommitted|unstaged|modified)\b",
        rf"\b\d[\d,]{{0,12}} \w+(?: \w+)? are{_STILL} (?:pending|online|queued|waiting|connected|open|failing|logged in)\b",
        rf"\b(?:is|are) \d[\d.,]{{0,12}} ?{_UNIT} (?:after|before|now)\b",
        r"\b\d[\d,]{0,12} [\w ]{1,20} (?:in|over|during|within) the (?:past|last) (?:hour|minutes?)\b",
    ),
    Moment.PROGRESS: (
        rf"\b{_N} (?:out )?of (?:the |all )?{_N} (?:\w+ ){{0,3}}"
        rf"(?:{_DONE}|fail(?:s|ed)?|works?|are|is|have|has|left|remain(?:ing)?)\b",
        rf"\b\d{{1,9}}\s?/\s?\d{{1,9}} (?:\w+ ){{0,3}}(?:{_DONE}|left)\b",
        rf"\b{_DONE} {_N} (?:out )?(?:of|/) (?:the )?{_N}\b",
        rf"\b{_N} (?:\w+ ){{0,3}}(?:remain|remaining|left to|to go|still fail(?:s|ing)?|are still \w+|(?:are |is )?left$)",
        rf"\bstill {_N} \w+",
        rf"\b(?:half|partly|partially|almost|nearly|mostly) {_DONE}\b|\bhalf-?way\b",
        r"\bhalf of the \w+ (?:is|are|have|has)\b",
        rf"\b\d{{1,9}} ?% {_DONE}\b",
        rf"\b(?:steps?|phases?|parts?|chapters?|milestones?) (?:\d{{1,9}}|{_FEW})\b[^.;]{{0,30}}\b(?:is|are|has|have)\b{_STILL} "
        r"(?:not|done|in progress|been|finished|complete|next|open)",
        r"\b(?:first|last) (?:\w+ ){1,3}(?:is|are) \w+ed\b[^.;]{0,10}\brest\b",
        r"\b(?:we|user|i) (?:is|are|am) (?:now )?(?:in|on|at) (?:phase|step|stage|part)\b",
        r"\b(?:has|have|was|were)(?: not|n't) (?:been )?(?:started|finished|done|merged|written|deployed|released|run)\b",
        r"\b(?:not|no|\w+n't)\b[^.;]{1,40}\byet\b",
        r"\bdown (?:from \d{1,9} )?to \d{1,9} \w+|\bdown from \d{1,9} to \d",
        r"\b\d{1,9} (?:tests? |specs? |checks? )?(?:passed|failed|skipped)\b",
        rf"\b{_N} of {_N} (?:approvals?|checks?|reviews?) (?:is|are) in\b",
    ),
    Moment.SESSION: (
        r"(?:^|[,:]\s{0,3})next,? (?:we|the user|user|i|up|look)\b|^\s*let(?:'s| us)\b",
        r"\bone-?off\b(?! (?:commands?|jobs?|tasks?) (?:are|go|live))",
        rf"{_WHO} (?:just )?(?:asked|requested|wants?|wanted) (?:(?:me|us|you|the agent|the assistant) )?to {_LOOK}\b"
        rf"[^.;]{{0,50}}\b{_THIS}\b",
        rf"{_WHO} (?:is asking|asks) (?:for help|why|how|about|whether|where|what)\b",
        rf"{_WHO} (?:confirmed|approved|accepted|agreed (?:to|with|on)) (?:the|this|to|step)\b",
        r"^\s*remember to (?:remove|delete|revert|undo|re-?enable|restore|clean up|turn)\b",
    ),
    Moment.JUST_DID: (
        r"\b(?:was|were|has been|have been) (?:committed|pushed|rebased|restarted|rolled back|cherry-picked|stashed)\b",
        r"\bcommit [0-9a-f]{7,40} (?:was|has|is)\b",
        r"\b(?:latest|last) (?:\w+ )?(?:run|build|deploy)\b",
        r"\bin the (?:last|previous) (?:step|turn|message|answer|reply)\b",
    ),
    Moment.WEEKDAY: (
        rf"\b(?:on|by|until|next|last|this|since|due) (?:next |last |this )?{_DAY}\b"
        r"(?! (?:of|to|through|until|and|or|is the|in)\b)",
        rf"\b{_DAY} (?:morning|afternoon|evening|night|noon|at \d)",
        r"\b(?:this|next|last|over the) (?:week|weekend|month|sprint|quarter)\b",
    ),
    Moment.STATE: (
        rf"{_WHO}(?: (?:is|are|am)|'(?:s|re|m)){_STILL} {_BUSY}\b",
        rf"{_WHO} (?:is|are|seems?|feels?|looks?) (?:very |a bit )?{_MOOD}\b",
        r"^\s*(?:still )?(?:debugging|investigating|awaiting|waiting (?:for|on)|troubleshooting|fixing|hunting|chasing)\b",
        r"\bin the middle of \w+ing\b|\bto be (?:verified|confirmed|decided|determined)\b",
        r"\bis (?:still )?(?:waiting|awaiting|pending (?:approval|review))\b|\bawaits\b",
        rf"\b(?:is|are){_STILL} {_DOWN}{_END}",
        rf"\b(?:is|are){_STILL} blocked by\b|\b(?:is|are) stuck\b|\b(?:is|are) not running on\b",
        rf"\bbeing {_HANDLED}\b|\b(?:is|are) running (?:in the background|on battery)\b",
        r"\b(?:is|are) still (?:open|failing|running|pending|broken|red|building|waiting)\b",
        r"\b(?:expected|scheduled|due) to (?:finish|end|be back|recover|complete)\b|\bnext release (?:will|is)\b",
        r"\bthere (?:is|are) (?:still )?(?:an? )?(?:merge )?conflicts? in\b",
        r"\b(?:has|have) been (?:hit|reached|exhausted|used up)\b",
        r"\b(?:is|are) (?:firing|training|ringing|rebooting|spiking|crashing|leaking|compiling|downloading|hanging)\b",
        r"\breturned [45]\d\d\b|\bnot (?:staged|committed|pushed)\b|\b(?:is|are) on branch\b",
        r"\b(?:user|he|she) has [\w .-]{1,40} open\b(?=\s*(?:$|in\b))",
    ),
}

SIGNS: Final = signs(_FIRM, _LOOSE)
