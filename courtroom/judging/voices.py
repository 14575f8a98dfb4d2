"""How offline members put what they weighed: plain sentences in the first person, in the manner of who speaks.

A sentence is an opening and an ending around words of the case. Which ones is fixed by seat and round: of 56 seats no two
say the same sentence in a round, nor do 17 in three rounds.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from courtroom.cases.dispute import Dispute, Side
from courtroom.judging.dispute_weights import Contribution, contributions
from courtroom.language import speaking, translated
from courtroom.panel.personas import Persona

Manner = Literal["short", "blunt", "careful", "warm"]
MANNERS: tuple[Manner, ...] = ("short", "blunt", "careful", "warm")
MANNER_OF: dict[str, Manner] = {
    **dict.fromkeys(("pragmatic", "impulsive"), "short"),
    **dict.fromkeys(("assertive", "stubborn", "principled"), "blunt"),
    **dict.fromkeys(("skeptical", "analytical", "detail-oriented", "cautious"), "careful"),
    **dict.fromkeys(("empathetic", "agreeable", "conciliatory", "open-minded"), "warm"),
}  # fmt: skip

Table = dict[str, tuple[str, ...]]


def _table(text: str) -> Table:
    """`name: one | another | ...`, a line each; a line that begins with `|` goes on."""
    lines = re.sub(r"\n\s*\|", " |", text.strip()).splitlines()
    return {
        name.strip(): tuple(p.strip() for p in rest.split("|")) for name, _, rest in (s.partition("=") for s in lines)
    }


MEANS = _table("""
undisclosed= nobody told the buyer of it | this was kept from the buyer | a fault went unmentioned
mismatch= this is not what was described | the thing and its listing differ | something else was promised in the listing
defect= it does not do what it should | the thing has a fault | this is no sound article
missing= a part of it never came | something is lacking | the buyer did not get all of it
promise= a promise was broken | somebody did not keep to what was said | words were given and not kept
careless= somebody took no care | this was done in haste | more care was owed
unboxing= the opening of the parcel is on record | there is a record of the unpacking | we know how it came out of the box
transit= it was hurt on the way | the way did the damage | it suffered in transport
admission= the seller admits a mistake | that is an admission | the seller owns up to it
evasive= the seller dodges the question | questions stayed without an answer | the seller keeps out of reach
prompt= the buyer spoke up at once | there was no waiting with the complaint | the complaint came early
measured= there is a figure that can be checked | this was measured, not felt | a number says more than a word
expert= somebody without a stake bears it out | an outsider confirms it | it does not rest on one side’s word
shown= there is something to see for it | it is shown and not only said | the claim comes with a picture of it
guess= that is no more than a guess | nothing bears that guess out | to suppose is not to show
concession= the buyer grants it | that comes from the buyer’s own mouth | the buyer says so without being pressed
disclosed= the buyer was told beforehand | it was said before the sale | nothing was hidden there
accepted= the buyer knew it and agreed | the buyer took it knowingly | there was consent
as-described= it was in order before it left | it was sound when it was sent | no fault was there at dispatch
swapped= it may have been swapped | it may not be the same thing any more | a swap is possible
buyer-caused= the buyer's own use can explain it | it may have happened at the buyer's | use came before the complaint
late= the complaint comes late | much time went by first | it took long to complain
no-unboxing= nobody recorded the unpacking | the unpacking is not on record | of the unpacking there is no proof
consumed= it has been used already | the use was had | what was bought was consumed
delivered= the seller did what was agreed | the seller's part was done | it was delivered as agreed
wear= used things show wear | traces belong to used things | second-hand is not new
change-of-mind= this is a change of mind | the wish has changed, not the thing | it is a matter of liking
""")
MEANS_ZH = _table("""
undisclosed= 有瑕疵没有告知 | 这件事瞒着买家 | 售前没有提到
mismatch= 实物与描述不符 | 东西和描述对不上 | 说的和给的不一样
defect= 使用中有故障 | 东西不好用 | 这东西有毛病
missing= 缺少部件或内容 | 东西没有给全 | 少了该有的
promise= 承诺没有兑现 | 说过的话没有做到 | 说好的没有算数
careless= 处理上有疏忽 | 做事不够小心 | 没有尽到小心
unboxing= 有开箱记录 | 开箱过程有据可查 | 拆包的经过留了记录
transit= 东西在路上受损 | 损坏出在运输中 | 运输伤了它
admission= 卖家自己承认了 | 这就是卖家的承认 | 卖家认了
evasive= 卖家回避问题 | 卖家没有正面回答 | 问题没有得到答复
prompt= 买家收货后马上就反映了 | 买家没有拖延 | 反映得很及时
measured= 有可以核对的数据 | 这是量出来的，不是凭感觉 | 数字比说法可靠
expert= 有不相干的人证实 | 这不是一面之词 | 外人也这么认定
shown= 有东西可看 | 不只是说，还拿出来了 | 这一说法有图可依
guess= 这不过是猜测 | 猜测没有依据 | 猜想代替不了证据
concession= 买家自己也认了 | 这话出自买家之口 | 买家并不否认
disclosed= 售前已经说明 | 事先讲清楚了 | 卖家没有藏着
accepted= 买家知情并接受 | 买家是知道了才买的 | 买家当时同意了
as-described= 发货前状态完好 | 寄出时没有问题 | 发出去的时候是好的
swapped= 可能被调包 | 东西可能不是原来那件 | 有调包的可能
buyer-caused= 问题可能出在买家的使用上 | 可能是买家那边造成的 | 买家自己的做法说得通
late= 过了很久才提出 | 提出得太晚 | 拖了很久才说
no-unboxing= 没有开箱记录 | 开箱没有留下证据 | 拆包的经过无从查证
consumed= 内容已被使用 | 已经用过了 | 买的东西用掉了
delivered= 已按约履行 | 卖家该做的做了 | 说好的交付了
wear= 这是二手物品的正常痕迹 | 用过的东西会有痕迹 | 二手本来就不是新的
change-of-mind= 这是买家反悔 | 变的是心意，不是东西 | 这是喜好问题
""")
"""What each clue of the weighing says, as clauses."""

ENGLISH = _table("""
short= {q}, so {m} | Take {q} and you see that {m} | From {q} I see that {m} | With {q} given, {m} | To me {q} means that {m}
    | Just read {q} and you see that {m} | Leaving the rest aside, {q} shows that {m} | A glance at {q} tells me that {m}
short ends=; the {side} has my vote |, so I go with the {side} |; {side} it is |, and that is enough for me to say {side}
    |, which puts me with the {side} |; I need no more to back the {side} |, end of story for me, the {side} is right
blunt= Look at {q}: {m} | {q} says it all: {m} | Nobody can talk away {q}: {m} | I won't argue about {q}: {m}
    | A fact like {q} is a fact: {m} | Call {q} by its name: {m} | Against {q} no excuse helps: {m} | Don't forget that {who} says {q}: {m}
blunt ends=; the {side} is right, full stop |; I stand with the {side} |, and on that the {side} wins |; that settles it for the {side}
    |, so don't ask me to go against the {side} |; I say it straight, the {side} |, and whatever others say, I vote for the {side}
careful= Having read {q} twice, I take it that {m} | Where {who} says {q}, I note that {m} | Weighing {q}, I find that {m}
    | If {q} holds, then {m} | {q} is on record, so I conclude that {m} | As far as {q} goes, {m}
    | Taken strictly, {q} tells me that {m} | Set beside the rest, {q} shows me that {m}
careful ends=, which speaks for the {side} |, and on balance I side with the {side} |; for me that tips the balance to the {side}
    |, so the {side} has the better of it |; with due care I find for the {side} |, so I am with the {side}
    |; the record, as I read it, favours the {side}
warm= I keep thinking of {q}, because {m} | {q} stays with me, because {m} | When {who} says {q}, I listen, because {m}
    | Put yourself in their place with {q}: {m} | In fairness {q} matters, since {m} | Reading {q} I feel for both, but {m}
    | Please read {q} again: {m} | I can't forget {q}, because {m}
warm ends=, and my heart is with the {side} |; I would like the {side} to get justice here |, so I gladly stand by the {side}
    |; I hope all can see why I choose the {side} |, and I would want that to count, so I choose the {side} |; it feels right to side with the {side}
    |; with no ill will to the {other}, I am for the {side}
further ends=; that is one more point for the {side} |, which adds to what the {side} has |, and it helps the {side} in my eyes
    |; I put it down for the {side} |, and the {side} can count on that |; the {side} can build on that |, and I credit the {side} with it
self= As {me}, I look hard at {q}: {m} | Being {me}, I stop at {q}: {m} | For {me}, {q} weighs more than for others: {m}
    | Ask {me} what {q} means, and you hear that {m} | Call me {me}, so {q} strikes me first: {m}
    | Coming here as {me}, I give weight to {q}: {m} | Not for nothing {me}, I pick {q} out: {m} | I am {me} and see in {q} that {m}
doer= {Me}, so I look hard at {q}: {m} | Since {me}, I stop at {q}: {m} | Because {me}, {q} weighs more with me: {m}
    | Whoever knows that {me} knows why I pick {q} out: {m} | People know that {me}, so {q} strikes me first: {m}
    | Given that {me}, I give weight to {q}: {m} | It is true that {me}, hence {q} speaks to me: {m} | Seeing that {me}, I read in {q} that {m}
trait= {Trait} as I am, I stop at {q}: {m} | Being {trait}, I go for {q}: {m} | I am {trait} and {q} is just what I look for: {m}
    | A {trait} mind rests on {q}: {m} | Call me {trait}, but {q} counts with me: {m} | My {trait} side holds on to {q}: {m}
    | They call me {trait}, and {q} shows why: {m} | Somebody {trait} like me cannot pass over {q}: {m}
leaning= {Me}, and with {q} before me I lean to the {side} | Knowing that {me}, you see why {q} pulls me to the {side}
    | Since {me}, even {q} leaves me leaning to the {side} | Because {me}, I meet {q} with the {side} in mind
    | Given that {me}, I read {q} with the eyes of the {side} | Allow for it that {me}, and {q} draws me to the {side}
    | I admit that {me}, so at {q} I incline to the {side} | I grant that {me}, and with {q} I am close to the {side}
leaning ends=; I say so openly |, and I know that about myself |; that is part of my vote |, though it decides little by itself
    |; call it my bent |, which you may hold against me |; it is a small push, but a push
rule= The rule {r} fits {q} | Under the rule {r}, {q} matters | Our rule {r} meets {q} | I hold {r} beside {q} | Going by {r}, I turn to {q}
    | With {r} in hand I come to {q} | Rules are rules, {r} is one, and {q} falls near it | What says {r} bears on {q}
against short= {q} stands there too | {q} I grant | {q} is no lie | {q}, I know | {q} was said | {q} counts a bit | {q} is a thing | {q} I have heard
against blunt= I hear {q} well enough | {q} is what the {other} has | The {other} waves {q} at me | All right, {q} is there
    | Some will shout {q} | Let them say {q} | You can hold {q} against me | {q} does not scare me
against careful= I must not leave out {q} | Against this stands {q} | I do not overlook {q} | Doubt comes from {q}
    | Fairness asks me to name {q} | {q} points the other way | {q} gives me pause | On the other side there is {q}
against warm= I understand {q} as well | Of course {q} is no small thing | My sympathy goes to {q} too | I see why the {other} holds up {q}
    | {q} deserves an answer | Nobody should laugh at {q} | It is human to say {q} | I do hear {q}
clear ends=, but it does not turn me |, yet it is not enough against the rest |, but it changes nothing in my vote |; it weighs too little for the {other}
    |, but it counts less than the rest |; even so I stay with the {side} |, and still the {side} is ahead
close ends=, and that makes it close for me |; I was near to the {other} because of it |, so I am not far from the middle
    |; it is close, but I choose the {side} |, and by a hair I stay with the {side} |; a little more and I would say {other}
    |, so I am only just with the {side}
agree= {name} is right about {q} | I agree with {name} on {q} | As {name} says, {q} | Like {name}, I go by {q} | {name} and I both see {q}
    | With {name} I point to {q} | What {name} said of {q} holds | Well put, {name}, {q} counts
answer= {name} has a point with {q}, but {own} weighs more with me | I hear {name} on {q}, only {own} comes first
    | To {name} I say, {q} is true, but so is {own} | {name}, I read {q} too, and yet {own} outweighs it | Unlike {name}, I put {own} before {q}
    | If {name} holds up {q}, I hold up {own} | Where {name} sees {q}, I see {own} | Not even {name} with {q} can make me forget {own}
moved= Alone with {own} I would say {other}, but {names} vote the other way | {names} turned me, for by {own} I was with the {other}
    | I came with {own} for the {other}, then heard how {names} vote | It took {names} to move me away from {own} and the {other}
    | With {own} alone I was for the {other}, but {names} outweigh it | {own} speaks for the {other}, but {names} changed my mind
    | After the votes of {names} I leave aside the {other} and {own} | The votes of {names} moved me away from {own} and the {other}
moved ends=; so I am for the {side} |, and so my vote is for the {side} |; I let that count and say {side} |, hence my vote for the {side}
    |; that tips me to the {side} |, which brings me to the {side} |; so be it, the {side}
first before= | Well, | Now, | Honestly, | First, | Clearly, | Right,
more before= Besides, | Also, | Moreover, | Next, | Then, | Further, | Again,
against before= | However, | Nonetheless, | Admittedly, | Nevertheless, | That said, | Certainly,
heard before= | Yes, | Indeed, | True, | Now, | Good, | So,
nothing= About {p} I find nothing of weight | In {p} there is little to go by | I look at {p} and see no clue that weighs
    | No clue in the matter of {p} moves me | {P} shows me nothing that decides | Of {p} I can say little | On {p} the record is thin | With {p} I stay in doubt
nothing ends=, and the doubt goes to the {side} |; so it stays with the {side} |, hence the {side}, for want of better
    |; in doubt I say {side} |, and then I say {side} |; that leaves me with the {side} |, which is why I fall back on the {side}
""")

CHINESE = _table("""
short= {q}，{m} | 看{q}就够了，{m} | 有{q}在，{m} | 一句{q}，{m} | 简单说，{q}表明{m} | 别的不谈，{q}说明{m} | 就凭{q}，{m} | 直接看{q}，{m}
short ends=，我投{side} |，所以选{side} |，{side}有理 |，够了，支持{side} |，不用多说，{side} |，我站{side} |，结论是{side}
blunt= 摆在那里的是{q}，{m} | {q}说得明明白白，{m} | 谁也抹不掉{q}，{m} | 我不跟人争{q}，{m} | 事实就是{q}，{m} | 老实讲，{q}意味着{m} | 面对{q}，什么借口都没用，{m} | {who}写着{q}，{m}
blunt ends=，{side}就是对的 |，我认定{side} |，这一条就让{side}赢 |，别劝我反对{side} |，话说在前头，我选{side} |，谁不服我也投{side} |，这事就归{side}
careful= 反复读了{q}，我认为{m} | {who}提到{q}，据此可见{m} | 掂量过{q}，我看{m} | 如果{q}属实，那么{m} | 记录里有{q}，由此推断{m} | 仅就{q}而言，{m} | 严格说来，{q}表明{m} | 与其余材料对照，{q}显示{m}
careful ends=，这有利于{side} |，权衡之下我倾向{side} |，天平偏向{side} |，{side}更站得住脚 |，谨慎起见我支持{side} |，因此我认同{side} |，依我看记录支持{side}
warm= 我一直想着{q}，因为{m} | {q}让我放不下，毕竟{m} | 听{who}说{q}，我很在意，{m} | 设身处地想想{q}，{m} | 公平地讲，{q}很要紧，{m} | 读到{q}，我体谅双方，可是{m} | 请大家再看看{q}，{m} | 我心里装着{q}，{m}
warm ends=，我的心在{side}这边 |，希望{side}得到公道 |，我愿意站在{side}一边 |，大家想必能理解我选{side} |，换了我也希望被理解，所以选{side} |，支持{side}让我心安 |，对{other}没有恶意，但我支持{side}
further ends=，这又为{side}添了一分 |，{side}的理由更足了 |，在我眼里对{side}有利 |，我给{side}记上一笔 |，{side}可以以此为据 |，{side}靠得住这一点 |，这一点算{side}的
self= 我这样的经历（{me}），特别看重{q}，{m} | 经历（{me}）让我停在{q}这里，{m} | 说到我自己（{me}），{q}的分量比别人眼中更重，{m} | 问问我这种人（{me}），就知道{q}意味着{m}
    | 大家知道我的来历（{me}），所以我先看{q}，{m} | 带着这份阅历（{me}），我给{q}多一些分量，{m} | 不是白有这段经历（{me}），我挑出{q}，{m} | 我的背景是{me}，从{q}看出{m}
trait= 我{trait}，所以盯住{q}，{m} | 生性{trait}的我看重{q}，{m} | 像我这样{trait}的人，找的就是{q}，{m} | {trait}的脑子会落在{q}上，{m} | 说我{trait}也好，{q}在我这里算数，{m} | 我{trait}的一面抓住{q}，{m} | 别人说我{trait}，看{q}就明白了，{m} | {trait}如我，绕不过{q}，{m}
leaning= 我（{me}）面对{q}，心里偏向{side} | 知道我是什么人（{me}），就明白{q}为何让我靠近{side} | 因为我的情况（{me}），看{q}时我偏{side} | 凭我的底色（{me}），读{q}会想着{side}
    | 带着我的性子（{me}），我用{side}的眼光看{q} | 请体谅我的立场（{me}），{q}把我拉向{side} | 我承认自己（{me}）在{q}上偏{side} | 不瞒大家（{me}），{q}让我更近{side}
leaning ends=，我明说 |，这点我自己清楚 |，这也是我这一票的一部分 |，虽然单凭它定不了什么 |，算是我的脾性 |，你们可以不认同 |，只是轻轻推了一把
rule= 规则{r}正合{q} | 按照规则{r}，{q}要紧 | 我们的规则{r}碰上{q} | 我把{r}放在{q}旁边看 | 依{r}，我来看{q} | 手里有{r}，再看{q} | 规矩就是规矩，{r}，{q}与之相关 | {r}说的正关系到{q}
against short= {q}也在 | {q}我承认 | {q}不假 | {q}我知道 | {q}也算一条 | {q}摆着 | {q}有人提 | {q}是有的
against blunt= {q}我听见了 | {other}手里有{q} | {other}拿{q}说事 | 行，{q}摆着呢 | 有人会喊{q} | 让他们说{q} | 尽管拿{q}来压我 | {q}吓不倒我
against careful= 不能漏掉{q} | 与此相对的是{q} | 我没有忽略{q} | 疑问来自{q} | 公平起见要提到{q} | 指向另一边的是{q} | {q}让我犹豫 | 天平另一端放着{q}
against warm= 我也理解{q} | {q}当然不是小事 | 我也同情{q} | 我明白{other}为什么提{q} | {q}值得回应 | 没人该笑话{q} | 人之常情会说{q} | {q}我听进去了
clear ends=，但动摇不了我 |，可是不足以压过其余 |，我的票不变 |，对{other}来说分量太轻 |，只是比其余的轻 |，尽管如此我仍选{side} |，{side}还是占先
close ends=，所以我觉得很接近 |，为此我差点选了{other} |，我离中间不远 |，差距很小，还是{side} |，以毫厘之差我选{side} |，再多一点我就会说{other} |，我只是勉强站在{side}一边
agree= {name}说的{q}没错 | 我同意{name}关于{q}的看法 | 正如{name}所说，{q} | 和{name}一样，我看{q} | {name}与我都看到{q} | 跟{name}一道，我指出{q} | {name}讲{q}讲得在理 | 说得好，{name}，{q}算数
answer= {name}提{q}有道理，但{own}在我这里更重 | 我听了{name}说{q}，可{own}排在前面 | 我对{name}说，{q}不假，{own}也不假 | {name}，{q}我也读了，但{own}压过它 | 与{name}不同，我把{own}放在{q}前面
    | {name}举出{q}，我举出{own} | {name}看到{q}的地方，我看到{own} | 就算{name}有{q}，也不能让我忘了{own}
moved= 单凭{own}我会选{other}，可{names}投了另一边 | {names}让我转了念，因为照{own}我原本支持{other} | 我带着{own}支持{other}而来，后来听到{names}的投票 | 是{names}让我离开了{own}和{other}
    | 若只有我和{own}，就是{other}，但{names}更有分量 | 不是为{other}说话的{own}，而是{names}让我下了决心 | 看了{names}的票，我放下{other}和{own} | 让我离开{own}和{other}的，是{names}怎么投
moved ends=，所以我支持{side} |，我这一票给{side} |，我让这一点算数，选{side} |，因此我投{side} |，这让我靠向{side} |，把我带到{side}这边 |，那就{side}吧
first before= | 我说， | 先讲一句， | 坦白说， | 首先， | 依我看， | 好，
more before= 再说， | 还有， | 另外， | 接着， | 而且， | 此外， | 再有，
against before= | 话说回来， | 可是， | 同时， | 反过来， | 诚然， | 要知道，
heard before= | 是的， | 听着， | 我听到了， | 好的， | 那么， | 嗯，
nothing= 关于{p}，我找不到有分量的东西 | {p}一事没有多少依据 | 我看{p}，没有有分量的线索 | {p}这件事没有线索打动我 | {p}，没有什么能定论 | 对{p}我说不出多少 | {p}的记录很单薄 | {p}让我存疑
nothing ends=，存疑归{side} |，那就留给{side} |，没有更好的，就{side} |，有疑问时我选{side} |，这样我说{side} |，于是我留在{side} |，所以退而选{side}
""")

ROUNDS = 3
"""Rounds in which 17 jurors never meet the same pair of opening and ending."""
LONGEST = {"en": 64, "zh": 24}
"""Characters of a quotation."""
CLOSE = 0.2
"""A stance up to which a vote is called close."""
_END = re.compile(r"[.!?;:](?=\s|$)|[。！？；：\n]")
_PAUSE = re.compile(r",\s|[，、]")
_PIECE = re.compile(r"^((?:buyer|seller)-\d+): ")
_QUOTED = re.compile("“([^”]+)”")


@dataclass(frozen=True)
class Point:
    """A clue as a member may put it."""

    quote: str
    who: str
    """Whose words they are, e.g. `the buyer`."""
    means: str


@dataclass(frozen=True)
class Voice:
    """Who speaks, about which case, for which side."""

    case: Dispute
    side: Side
    seat: int = 1
    round: int = 1
    persona: Persona | None = None

    @property
    def chinese(self) -> bool:
        """In which language the case is."""
        return self.case.language.startswith("zh")

    @property
    def manner(self) -> Manner:
        """By the first trait that has one, else by the seat."""
        traits = self.persona.traits if self.persona else ()
        return next((MANNER_OF[trait] for trait in traits if trait in MANNER_OF), MANNERS[self.seat % len(MANNERS)])

    def says(self, before: str, opening: str, ending: str, **values: str) -> str:
        """One sentence of this seat's own in this round, after a word that leads up to it."""
        table = CHINESE if self.chinese else ENGLISH
        words, openings, endings = table[f"{before} before"], table[opening], table[ending]
        number = (self.seat - 1) * ROUNDS + self.round - 1
        first = (number + 3 * (before == "more")) % len(openings)  # not the opening of the reason before
        last = (number + number // len(openings)) % len(endings)
        other: Side = "seller" if self.side == "buyer" else "buyer"
        values |= {"side": self._side(self.side, bare=True), "other": self._side(other, bare=True)}
        values |= {name.capitalize(): text[:1].upper() + text[1:] for name, text in values.items()}
        text = openings[first].format(**values) + endings[last].format(**values)
        if words[last] and not re.match(r"I\b|{name", openings[first]):
            text = text[:1].lower() + text[1:] if not text.startswith("I ") else text
        space = "" if self.chinese or not words[last] else " "
        text = words[last] + space + text
        return text[:1].upper() + text[1:] + ("。" if self.chinese else ".")

    def point(self, c: Contribution) -> Point:
        """A contribution in words of the case: the clause in which the clue stands, and what it means."""
        found = _PIECE.match(c.text)
        match = c.text[found.end() :] if found else c.text
        pieces = [piece for piece in self.case.evidence if found and piece.id == found[1]] or list(self.case.evidence)
        spoken = [(self._side(piece.side), piece.text) for piece in pieces]
        shown = []
        for piece in pieces:
            for medium in piece.media:
                told = "提供的媒体说明" if self.chinese else f"’s {medium.kind}, by its description,"
                shown.append((f"{self._side(piece.side)}{told}", medium.description))
        before = [(self._side(line.speaker), line.text) for line in self.case.chat]
        before.append((self._side("seller"), self.case.transaction.description))
        places = [*spoken, *shown, *before] if found else [*before, *spoken, *shown]
        who, text = next((one for one in places if match in one[1]), (self._side(self.side), match))
        meanings = (MEANS_ZH if self.chinese else MEANS)[c.kind]
        quote = self.quoted(_clause(text, match, self._longest, bool(self.seat % 2)))
        return Point(quote, who, meanings[(self.seat + self.round) % 3])

    def quoted(self, text: str) -> str:
        """Words of others, shortened, in quotation marks."""
        text = text.strip(' ,，。.“”"')
        if len(text) > self._longest and len(text := text.strip()) > self._longest:  # it is cut between words
            cut = text[: self._longest - 1]
            text = (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(" ,，") + "…"
        return "“" + re.sub('[“”"]', "'", text) + "”"

    @property
    def product(self) -> str:
        """What was sold, in its first words."""
        return self.quoted(re.split("[,，:：]", self.case.transaction.product)[0])

    @property
    def _longest(self) -> int:
        return LONGEST["zh" if self.chinese else "en"]

    def _side(self, side: Side, bare: bool = False) -> str:
        return {"buyer": "买家", "seller": "卖家"}[side] if self.chinese else side if bare else f"the {side}"

    def clue(self, c: Contribution, before: str, opening: str, ending: str, **more: str) -> str:
        """A sentence about one clue."""
        point = self.point(c)
        return self.says(before, opening, ending, q=point.quote, who=point.who, m=point.means, **more)

    def lead(self, c: Contribution) -> str:
        """What decides for this member."""
        return self.clue(c, "first", self.manner, f"{self.manner} ends")

    def further(self, c: Contribution, before: str = "more") -> str:
        """What speaks for the side taken as well."""
        return self.clue(c, before, self.manner, "further ends")

    def own(self, c: Contribution, trait: str) -> str:
        """A clue that weighs more with this member, by its trait or else by its experience."""
        if trait or self.persona is None:
            return self.clue(c, "more", "trait", "further ends", trait=self._in_language(trait))
        me, does = self._me(self.persona.background)
        return self.clue(c, "more", "doer" if does else "self", "further ends", me=me)

    def leaning(self, basis: Contribution, about: str) -> str:
        """What the member itself brings along: a trait or its background."""
        if basis.kind == "background":
            me, does = self._me(basis.text)
            me = me if does or self.chinese else f"I am {me}"
        else:
            me = self._in_language(basis.text) if self.chinese else f"I am {basis.text}"
        return self.says("more", "leaning", "leaning ends", me=me, q=about)

    def ruled(self, basis: Contribution, about: str) -> str:
        """A rule or an earlier norm that favours the side taken."""
        return self.says("more", "rule", "further ends", r=self.quoted(basis.text), q=about)

    def against(self, c: Contribution, stance: float) -> str:
        """What speaks for the other side."""
        return self.clue(c, "against", f"against {self.manner}", "close ends" if abs(stance) < CLOSE else "clear ends")

    def agrees(self, name: str, quote: str) -> str:
        """That another member is right."""
        return self.says("heard", "agree", f"{self.manner} ends", name=name, q=quote)

    def answers(self, name: str, quote: str, own: str) -> str:
        """What another member of the other opinion said, and what outweighs it."""
        return self.says("heard", "answer", f"{self.manner} ends", name=name, q=quote, own=own)

    def moved(self, names: Sequence[str], own: str) -> str:
        """A change of mind, and who moved it."""
        joined = ("、" if self.chinese else ", ").join(names[:-1])
        told = f"{joined}{'和' if self.chinese else ' and '}{names[-1]}" if joined else names[-1]
        return self.says("heard", "moved", "moved ends", names=told, own=own)

    def nothing(self) -> str:
        """That no clue speaks for the side taken."""
        return self.says("first", "nothing", "nothing ends", p=self.product)

    def heard(self, reasoning: Sequence[str], side: Side) -> str:
        """What another member pointed to: words of the case that speak for its side; empty where it quotes none."""
        known = {c.text for c in contributions(self.case) if (c.weight > 0) == (side == "buyer")}
        quotes = (quote for reason in reasoning for quote in _QUOTED.findall(reason))
        return next((f"“{quote}”" for quote in quotes if any(text in quote for text in known)), "")

    def _in_language(self, text: str) -> str:
        if not self.chinese:
            return text
        with speaking("zh"):
            return translated(text)

    def _me(self, background: str) -> tuple[str, bool]:
        """A background in the first person, e.g. `a contract lawyer`, and whether it is a sentence: `I run a shop`."""
        if self.chinese:
            return re.split("[，；。,;.]", self._in_language(background))[0], False
        text = re.split(r"[;,:.]| who ", background)[0].strip()
        first, _, rest = text.partition(" ")
        if not re.fullmatch(r"(?!.*ss$)[A-Z][a-z]+s", first):
            return f"{'an' if text[:1].lower() in 'aeiou' else 'a'} {text[:1].lower()}{text[1:]}", False
        rest = re.sub(r"\b(and )([a-z]+s)\b", lambda found: found[1] + _plain(found[2]), rest, count=1)
        return f"I {_plain(first.lower())} {rest}", True


def points_for(case: Dispute, side: Side, seat: int = 1) -> list[str]:
    """What speaks for a side, weightiest first, as somebody in a seat puts it: a sentence for each clue."""
    sign = 1 if side == "buyer" else -1
    ranked = sorted((one for one in contributions(case) if one.weight * sign > 0), key=lambda one: -abs(one.weight))
    own = list({one.text: one for one in reversed(ranked)}.values())[::-1]
    words = ("first", *("more" for _ in own))
    return [Voice(case, side, seat, n).further(one, words[n - 1]) for n, one in enumerate(own, start=1)]


def _plain(verb: str) -> str:
    """`runs` as `run`, `studies` as `study`."""
    if verb in ("has", "is"):
        return {"has": "have", "is": "am"}[verb]
    return verb[:-3] + "y" if verb.endswith("ies") else re.sub(r"(?<=sh|ch|ss)es$|s$", "", verb)


def _clause(text: str, match: str, longest: int, wide: bool) -> str:
    """The part of a text around some of its words: a sentence, or the part between commas where that is too long."""
    start = text.index(match)
    after = start + len(match)
    for borders in ((_END,), (_END, _PAUSE)) if wide else ((_END, _PAUSE),):
        found = [one.span() for border in borders for one in border.finditer(text)]
        begin = max((stop for _, stop in found if stop <= start), default=0)
        end = min((first for first, _ in found if first >= after), default=len(text))
        if end - begin <= longest:
            return text[begin:end]
    return text[begin if after - begin <= longest else start : end]
