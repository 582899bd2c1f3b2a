"""Makes the tables and questions of this set, by an author who knew nothing of the rules; figures by pandas."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from asking_too import Set, T, finish, ym


# ---------------------------------------------------------------- 质检
rng = np.random.default_rng(6101)
n = 1120
days = pd.date_range("2024-01-02", "2024-09-13")
days = days[days.day_of_week < 6]
d = np.sort(rng.choice(len(days), n))
d[-1] = len(days) - 1
line = rng.choice(["一号线", "二号线", "三号线", "四号线"], n, p=[.31, .28, .23, .18])
shift = rng.choice(["白班", "中班", "夜班"], n, p=[.45, .32, .23])
insp = rng.integers(6, 41, n) * 10
rate = np.array([{"一号线": .014, "二号线": .018, "三号线": .031, "四号线": .012}[x] for x in line]) * np.array([{"白班": 1, "中班": 1.1, "夜班": 1.4}[x] for x in shift])
bad = rng.binomial(insp, rate)
bad[777] = 96
insp[777] = 300
defect = np.where(bad == 0, "", rng.choice(["划伤", "毛刺", "尺寸超差", "色差", "漏装"], n, p=[.31, .22, .24, .13, .1]))
batch = [f"B24{i:05d}" for i in range(1, n + 1)]
re = np.zeros(n, bool)
re[rng.choice(np.arange(60, n, 2), 37, replace=False)] = True
for i in np.where(re)[0]:
    batch[i] = batch[i - 1]
t = pd.DataFrame({"检验日期": days[d].strftime("%Y-%m-%d"), "批次号": batch, "产线": line, "班次": shift, "产品型号": rng.choice(["HX-100", "HX-120", "HX-200", "ZT-05", "ZT-08"], n, p=[.28, .22, .2, .17, .13]), "检验数量": insp, "不良数量": bad, "主要缺陷": defect, "检验员": rng.choice(["张慧", "刘洋", "周婷", "黄磊"], n, p=[.29, .27, .24, .2]), "是否复检": np.where(re, "是", "否"), "检验耗时(分钟)": np.round(insp * .12 + rng.normal(8, 4, n)).clip(5).astype(int)})
t.to_csv(T / "质检记录.csv", index=False, encoding="utf-8-sig")
t = pd.read_csv(T / "质检记录.csv", parse_dates=["检验日期"])
q = Set("qc", "质检记录.csv")
D, B, I = t["检验日期"], t["不良数量"], t["检验数量"]
q.a("今年累计检验了多少件产品？", I.sum())
q.a("8月份一共发现多少不良品", B[D.dt.month == 8].sum())
q.by("各产线不良数量", t.groupby("产线")["不良数量"].sum())
q.top("哪种主要缺陷出现的记录最多？", t.groupby("主要缺陷").size())
q.top("哪个型号的不良数量最多", t.groupby("产品型号")["不良数量"].sum())
q.a("三号线夜班的不良数量是多少", B[(t["产线"] == "三号线") & (t["班次"] == "夜班")].sum())
q.by("每个检验员做了多少条检验记录，排个序", t.groupby("检验员").size())
q.trend("1到8月每月不良数量的变化情况", B[D < "2024-09-01"].groupby(ym(D)).sum())
q.pct("夜班的不良数占全部不良的百分之多少？", B[t["班次"] == "夜班"].sum() / B.sum())
q.a("有多少条记录没填主要缺陷", t["主要缺陷"].isna().sum())
q.a("平均每次检验花多少分钟", t["检验耗时(分钟)"].mean(), dec=1)
q.a("有几个批次号重复出现过（出现不止一次）？", (t["批次号"].value_counts() > 1).sum())
q.a("不良数量有没有异常值？最大的那条是哪个批次", B.max(), texts=[t.loc[B.idxmax(), "批次号"]], where="report")
q.a("检验数量和检验耗时的相关性有多强，给个相关系数", I.corr(t["检验耗时(分钟)"]), tol=.01)
q.a("做过复检的记录有几条", (t["是否复检"] == "是").sum())
q.a("二季度呢？", I[(D.dt.quarter == 2) & (t["产线"] == "一号线")].sum(), earlier="一季度一号线检验了多少件？")
q.no("夜班不良率为什么比白班高？")
q.no("这些不良品一共造成了多少经济损失")
q.no("客户投诉了几次？")

# ---------------------------------------------------------------- 培训
rng = np.random.default_rng(6102)
n = 930
days = pd.date_range("2022-03-01", "2024-05-22")
w = np.linspace(1, 1.8, len(days)) * (1 + .6 * np.isin(days.month, [7, 8]))
d = np.sort(rng.choice(len(days), n, p=w / w.sum()))
d[-1] = len(days) - 1
cs = {"Python数据分析": ("IT技能", 4980), "平面设计": ("IT技能", 3680), "初级会计": ("职业考证", 2380), "一级建造师": ("职业考证", 5800), "教师资格证": ("职业考证", 1980), "商务英语": ("语言", 3280), "日语N2": ("语言", 4280)}
cn = list(cs)
ci = [cn[i] for i in rng.choice(7, n, p=[.17, .11, .2, .12, .17, .12, .11])]
lp = np.array([cs[c][1] for c in ci])
off = rng.choice([0, 100, 200, 300, 500], n, p=[.4, .2, .18, .14, .08])
att = np.clip(np.round(rng.normal(84, 11, n)), 20, 100).astype(int)
score = np.clip(np.round(att * .5 + 33 + rng.normal(0, 7, n)), 20, 100)
cut = len(days) - 90
score = np.where((d > cut) | (rng.random(n) < .08), np.nan, score)
t = pd.DataFrame({"报名编号": [f"R{220001 + i}" for i in range(n)], "报名日期": days[d].strftime("%Y年%m月%d日"), "校区": rng.choice(["总校区", "东湖校区", "光谷校区"], n, p=[.43, .25, .32]), "课程名称": ci, "课程类别": [cs[c][0] for c in ci], "原价": lp, "优惠金额": off, "实缴学费": lp - off, "上课方式": rng.choice(["线下", "线上"], n, p=[.63, .37]), "招生老师": rng.choice(["唐老师", "许老师", "邓老师", "韩老师", "曹老师"], n, p=[.27, .23, .2, .17, .13]), "学员来源": rng.choice(["公众号", "老学员推荐", "抖音", "企业团报", "其他"], n, p=[.28, .26, .22, .15, .09]), "出勤率(%)": att, "结业成绩": score, "是否结清": np.where(rng.random(n) < .91, "是", "否")})
t.to_csv(T / "培训报名.csv", index=False, encoding="utf-8-sig")
t = pd.read_csv(T / "培训报名.csv")
t["D"] = pd.to_datetime(t["报名日期"], format="%Y年%m月%d日")
q = Set("course", "培训报名.csv")
D, A = t.D, t["实缴学费"]
Y = D.dt.year
q.a("2023年学费收入一共多少？", A[Y == 2023].sum())
q.by("帮我看看每门课有多少人报名", t.groupby("课程名称").size())
q.top("哪个校区学费收入最高", t.groupby("校区")["实缴学费"].sum())
q.by("各课程类别的实缴学费和占比", A.groupby(t["课程类别"]).sum())
q.pct("线上课报名人数占总人数的比例", (t["上课方式"] == "线上").mean())
q.by("招生业绩前三名的老师（按实缴学费）", t.groupby("招生老师")["实缴学费"].sum(), n=3)
q.a("总共优惠出去了多少钱", t["优惠金额"].sum())
q.a("一级建造师2023年报了多少人？", ((t["课程名称"] == "一级建造师") & (Y == 2023)).sum())
q.grow("2023年三季度学费收入同比增长百分之多少？", A[(Y == 2023) & (D.dt.quarter == 3)].sum(), A[(Y == 2022) & (D.dt.quarter == 3)].sum())
q.trend("麻烦按季度列一下2022年二季度到2024年一季度的报名人数", t[(D >= "2022-04-01") & (D < "2024-04-01")].groupby(D.dt.to_period("Q")).size())
q.a("上个月有多少人报名？", (ym(D) == "2024-04").sum())
q.a("还没结清学费的学员有几个", (t["是否结清"] == "否").sum())
q.a("结业成绩的中位数是多少分", t["结业成绩"].median())
q.top("哪门课的平均出勤率最低？", t.groupby("课程名称")["出勤率(%)"].mean(), low=True, gap=.001, dec=1)
q.a("结业成绩低于60分的有多少人？", (t["结业成绩"] < 60).sum())
q.a("东湖校区通过抖音来的学员实缴了多少学费", A[(t["校区"] == "东湖校区") & (t["学员来源"] == "抖音")].sum())
q.a("那2022年呢？", ((t["校区"] == "光谷校区") & (Y == 2022)).sum(), earlier="2023年光谷校区有多少人报名？")
q.no("学员考证通过率是多少？")
q.no("给光谷校区写一段招生文案")
q.no("隔壁机构的Python课卖多少钱？")

# ---------------------------------------------------------------- 房产中介
rng = np.random.default_rng(6103)
n = 540
days = pd.date_range("2023-01-01", "2024-12-31")
w = np.linspace(1, 1.35, len(days))
d = np.sort(rng.choice(len(days), n, p=w / w.sum()))
d[-1] = len(days) - 1
dist = {"高新区": 21500, "江南区": 17800, "老城区": 14200, "新港区": 11600}
ds = rng.choice(list(dist), n, p=[.31, .28, .25, .16])
area = np.round(np.clip(rng.normal(98, 28, n), 38, 240), 1)
hx = np.where(area < 62, "一室", np.where(area < 88, "两室", np.where(area < 125, "三室", "四室及以上")))
sch = rng.random(n) < .27
unit = np.round([dist[x] * (1.12 if s_ else 1) * rng.uniform(.85, 1.15) for x, s_ in zip(ds, sch)])
tot = np.round(unit * area / 10000, 1)
listd = np.round(rng.gamma(2, 32, n)).astype(int) + 3
t = pd.DataFrame({"合同编号": [f"HT-{days[x]:%Y%m}-{i:03d}" for i, x in enumerate(d)], "签约日期": days[d].strftime("%Y-%m-%d"), "门店": rng.choice(["世纪花园店", "滨河路店", "中心广场店"], n, p=[.4, .33, .27]), "经纪人": rng.choice(["钱磊", "吴倩", "马超", "朱琳", "林峰", "高洁"], n, p=[.22, .2, .18, .16, .13, .11]), "行政区": ds, "户型": hx, "建筑面积(㎡)": area, "成交总价(万元)": tot, "成交单价(元/㎡)": unit.astype(int), "佣金(元)": np.round(tot * 10000 * rng.choice([.01, .015, .02], n, p=[.3, .5, .2]), 0).astype(int), "挂牌天数": listd, "是否学区房": np.where(sch, "是", "否"), "贷款方式": np.where(rng.random(n) < .06, "", rng.choice(["商业贷款", "公积金", "组合贷", "全款"], n, p=[.44, .19, .2, .17]))})
t.to_csv(T / "二手房成交.csv", index=False, encoding="utf-8-sig")
t = pd.read_csv(T / "二手房成交.csv", parse_dates=["签约日期"])
q = Set("house", "二手房成交.csv")
D, A, Cm = t["签约日期"], t["成交总价(万元)"], t["佣金(元)"]
Y = D.dt.year
q.a("2024年成交了多少套？", (Y == 2024).sum())
q.a("2024年佣金收入合计是多少元", Cm[Y == 2024].sum())
q.by("各行政区的成交套数", t.groupby("行政区").size())
q.top("哪位经纪人佣金做得最多？", t.groupby("经纪人")["佣金(元)"].sum())
q.a("高新区的平均成交单价是多少（各套单价的平均值）", t[t["行政区"] == "高新区"]["成交单价(元/㎡)"].mean())
q.by("三家门店的佣金对比", t.groupby("门店")["佣金(元)"].sum())
q.grow("今年佣金收入同比去年增长多少？", Cm[Y == 2024].sum(), Cm[Y == 2023].sum())
q.pct("学区房成交套数占多少比例", (t["是否学区房"] == "是").mean())
q.trend("2024年每月成交套数走势如何？", t[Y == 2024].groupby(ym(D)).size())
q.topm("佣金最高的是哪个月？那个月多少钱", Cm.groupby(ym(D)).sum())
q.a("总价最高的一套卖了多少万？在哪个区", A.max(), texts=[t.loc[A.idxmax(), "行政区"]])
q.a("总价超过300万的房子成交了几套", (A > 300).sum())
q.a("挂牌天数的中位数", t["挂牌天数"].median())
q.by("不同户型平均挂牌多少天才卖掉？", t.groupby("户型")["挂牌天数"].mean(), dec=1)
q.a("江南区三室的成交总价加起来多少万", A[(t["行政区"] == "江南区") & (t["户型"] == "三室")].sum())
q.a("贷款方式没有登记的有多少单", t["贷款方式"].isna().sum())
q.by("改成按经纪人看", t[Y == 2024].groupby("经纪人").size(), earlier="2024年各门店成交了多少套？")
q.no("明年高新区房价会不会涨？现在适合买吗")
q.no("带看次数最多的经纪人是谁？")
q.no("房价和附近地铁站的距离有关系吗？")

# ---------------------------------------------------------------- donations
rng = np.random.default_rng(6104)
n = 1680
days = pd.date_range("2022-01-01", "2024-11-10")
w = np.linspace(1, 1.5, len(days)) * (1 + 1.1 * (days.month == 12))
d = np.sort(rng.choice(len(days), n, p=w / w.sum()))
d[-1] = len(days) - 1
dw = rng.pareto(1.5, 430) + .3
don = rng.choice(430, n, p=dw / dw.sum())
dtype = np.array(rng.choice(["Individual", "Company", "Foundation"], 430, p=[.84, .12, .04]))
state = np.array(rng.choice(["Oregon", "Washington", "California", "Idaho", "Nevada"], 430, p=[.38, .26, .2, .1, .06]))
am = np.array([{"Individual": 60, "Company": 450, "Foundation": 2500}[x] for x in dtype[don]]) * rng.lognormal(0, .7, n)
t = pd.DataFrame({"Gift ID": np.arange(90001, 90001 + n), "Gift Date": days[d], "Donor ID": [f"D{1000 + i}" for i in don], "Donor Type": dtype[don], "State": state[don], "Campaign": rng.choice(["Winter Appeal", "Clean Water", "School Meals", "General Fund", "Spring Gala"], n, p=[.22, .2, .21, .25, .12]), "Amount": np.round(am / 5) * 5 + 5, "Payment Method": rng.choice(["Card", "Bank transfer", "PayPal", "Check"], n, p=[.5, .2, .18, .12]), "Recurring": np.where(rng.random(n) < .34, "Yes", "No"), "Thank-you Sent": [x + pd.Timedelta(days=int(k)) if u < .88 and x + pd.Timedelta(days=int(k)) <= days[-1] else pd.NaT for x, k, u in zip(days[d], rng.integers(1, 12, n), rng.random(n))]})
t.to_excel(T / "donations.xlsx", index=False, sheet_name="Gifts")
t = pd.read_excel(T / "donations.xlsx")
q = Set("gifts", "donations.xlsx")
D, A = t["Gift Date"], t["Amount"]
Y = D.dt.year
q.a("How much have we raised in total?", A.sum())
q.a("How much came in during 2023?", A[Y == 2023].sum())
q.by("Amount raised by campaign", t.groupby("Campaign").Amount.sum())
q.by("Who are our top 5 donors? Just the IDs and what they gave.", t.groupby("Donor ID").Amount.sum(), n=5)
q.top("which state do we get the most gifts from", t.groupby("State").size())
q.a("What's the average gift from an individual donor?", A[t["Donor Type"] == "Individual"].mean())
q.a("median gift size overall?", A.median())
q.pct("What share of the money comes from companies?", A[t["Donor Type"] == "Company"].sum() / A.sum())
q.pct("What percentage of gifts are recurring?", (t.Recurring == "Yes").mean())
q.grow("How much did donations grow in 2023 versus 2022, in percent?", A[Y == 2023].sum(), A[Y == 2022].sum())
q.a("How many gifts of $1,000 or more have we received?", (A >= 1000).sum())
q.a("Year to date, how much has been raised for School Meals?", A[(Y == 2024) & (t.Campaign == "School Meals")].sum())
q.trend("Can I see total donations by quarter, from Q1 2022 to Q3 2024?", A[D < "2024-10-01"].groupby(D.dt.to_period("Q")).sum())
ytd = (Y == 2024), (Y == 2023) & (D <= "2023-11-10")
q.grow("Year to date, by what percentage are donations up on the same period last year?", A[ytd[0]].sum(), A[ytd[1]].sum())
q.a("How many different donors gave in 2024?", t[Y == 2024]["Donor ID"].nunique())
q.a("number of gifts without a thank-you date", t["Thank-you Sent"].isna().sum())
f = D.groupby(t["Donor ID"]).min()
q.trend("If you take the year of each donor's first gift, how many new donors did we get each year?", f.groupby(f.dt.year).size())
ds_ = A.groupby(t["Donor ID"]).sum().sort_values(ascending=False)
q.pct("How much of our income, in %, do the ten biggest donors account for?", ds_.head(10).sum() / A.sum())
q.a("and PayPal?", A[(t["Payment Method"] == "PayPal") & (Y == 2023)].sum(), earlier="How much was given by check in 2023?")
q.no("What are our administration costs as a share of donations?")
q.no("Draft a thank-you letter to our biggest donor")
q.no("Why did donors stop giving after the Spring Gala?")

# ---------------------------------------------------------------- web analytics
rng = np.random.default_rng(6105)
days = pd.date_range("2024-01-01", "2024-07-31")
ch = {"Organic Search": (420, .021), "Paid Search": (260, .03), "Email": (120, .042), "Social": (190, .009), "Direct": (230, .026)}
rows = []
for k, x in enumerate(days):
    for c, (b, cr) in ch.items():
        for dev, f, g in (("desktop", .45, 1.35), ("mobile", .55, .7)):
            s_ = int(rng.poisson(b * f * (1 + .0022 * k) * (.86 if x.day_of_week >= 5 else 1.05)))
            bo = int(rng.binomial(s_, .38 + .12 * (dev == "mobile") + .08 * (c == "Social")))
            o = int(rng.binomial(s_, cr * g))
            rows.append([x.strftime("%Y-%m-%d"), c, dev, s_, bo, int(s_ * rng.uniform(2.1, 3.6)), o, round(o * rng.uniform(48, 83), 2), round(s_ * rng.uniform(.7, 1.1), 2) if c == "Paid Search" else None])
t = pd.DataFrame(rows, columns=["date", "channel", "device", "sessions", "bounces", "page_views", "orders", "revenue", "ad_spend"])
t.to_csv(T / "web_traffic.csv", index=False)
t = pd.read_csv(T / "web_traffic.csv", parse_dates=["date"])
q = Set("web", "web_traffic.csv")
D, R, S = t.date, t.revenue, t.sessions
M = D.dt.month
q.a("How many sessions did the site get in June?", S[M == 6].sum())
q.by("revenue by channel", t.groupby("channel").revenue.sum())
q.top("Which channel sends us the most traffic (sessions)?", t.groupby("channel").sessions.sum())
q.pct("What share of orders comes from mobile?", t[t.device == "mobile"].orders.sum() / t.orders.sum())
q.a("total ad spend so far", t.ad_spend.sum())
q.trend("How has revenue developed month by month?", R.groupby(M).sum())
mm = S.groupby(M).sum()
q.grow("What was the month-over-month growth in sessions in July?", mm[7], mm[6])
q.a("Orders from email in Q2?", t[(t.channel == "Email") & D.dt.quarter.eq(2)].orders.sum())
day = R.groupby(D).sum()
q.topm("What was our best day in terms of total revenue, and how much did we make that day?", day)
q.a("on average, how many sessions a day do we get in total", S.groupby(D).sum().mean())
q.by("Compare desktop and mobile revenue", t.groupby("device").revenue.sum())
q.top("which channel had the fewest orders in July", t[M == 7].groupby("channel").orders.sum(), low=True)
q.a("Revenue excluding direct traffic?", R[t.channel != "Direct"].sum())
ses = S.groupby(M).sum()
q.a("If sessions keep growing like this, roughly how many should we expect in August 2024?", np.polyval(np.polyfit(range(7), ses.values, 1), 7), tol=.12)
q.a("What's the correlation between sessions and page views across the rows?", S.corr(t.page_views), tol=.01)
q.a("And social?", t[(t.channel == "Social") & (M == 7)].sessions.sum(), earlier="How many sessions did organic search bring in July?")
q.no("Which landing page has the highest bounce rate?")
q.no("What keywords are people searching for to find us?")
q.no("How should I split next month's ad budget?")

# ---------------------------------------------------------------- insurance
rng = np.random.default_rng(6106)
n = 900
prod = {"Motor": 620, "Home": 340, "Travel": 95, "Pet": 280, "Landlord": 510}
pn = list(prod)
pr = rng.choice(pn, n, p=[.41, .26, .12, .12, .09])
start = pd.Timestamp("2022-07-01") + pd.to_timedelta(np.sort(rng.integers(0, 900, n)), unit="D")
pol = pd.DataFrame({"policy_no": [f"P-{40001 + i}" for i in range(n)], "start_date": start.strftime("%Y-%m-%d"), "product": pr, "region": rng.choice(["North", "South", "Midlands", "Wales"], n, p=[.3, .36, .22, .12]), "broker": rng.choice(["Hartley & Co", "BrightCover", "Direct", "Mason Group"], n, p=[.25, .2, .38, .17]), "annual_premium": np.round([prod[x] * rng.uniform(.7, 1.45) for x in pr], 2), "customer_age": np.clip(np.round(rng.normal(45, 14, n)), 18, 84).astype(int), "pays_monthly": np.where(rng.random(n) < .57, "yes", "no")})
pol.to_csv(T / "policies.csv", index=False)
m_ = 430
pk = rng.choice(n, m_)
cd = start[pk] + pd.to_timedelta(rng.integers(5, 360, m_), unit="D")
keep = cd <= pd.Timestamp("2024-12-20")
pk, cd = pk[keep], cd[keep]
m_ = len(pk)
o = np.argsort(cd.values)
pk, cd = pk[o], cd[o]
amt = np.round([prod[pr[i]] * 3.1 * rng.lognormal(0, .75) for i in pk], 2)
cause = {"Motor": ["Collision", "Theft", "Windscreen"], "Home": ["Water damage", "Theft", "Fire"], "Travel": ["Medical", "Lost luggage", "Cancellation"], "Pet": ["Illness", "Injury", "Illness"], "Landlord": ["Water damage", "Malicious damage", "Fire"]}
stt = rng.choice(["Settled", "Open", "Rejected"], m_, p=[.71, .17, .12])
cl = pd.DataFrame({"claim_no": [f"C{8001 + i}" for i in range(m_)], "policy_no": [pol.policy_no[i] for i in pk], "claim_date": cd.strftime("%Y-%m-%d"), "cause": [rng.choice(cause[pr[i]], p=[.5, .3, .2]) for i in pk], "claim_amount": amt, "status": stt, "paid_amount": np.where(stt == "Settled", np.round(amt * rng.uniform(.7, 1, m_), 2), np.nan)})
cl.to_csv(T / "claims.csv", index=False)
pol = pd.read_csv(T / "policies.csv", parse_dates=["start_date"])
cl = pd.read_csv(T / "claims.csv", parse_dates=["claim_date"])
j = cl.merge(pol, on="policy_no")
assert len(j) == len(cl)
q = Set("cover", "policies.csv")
C = ["tables/claims.csv"]
two = ["tables/policies.csv", "tables/claims.csv"]
P = pol.annual_premium
PY = pol.start_date.dt.year
q.a("What is the total annual premium of all policies in the file?", P.sum())
q.by("How many policies per product?", pol.groupby("product").size())
q.top("Which broker brings in the most premium?", pol.groupby("broker").annual_premium.sum())
q.a("average premium for motor policies in Wales", P[(pol["product"] == "Motor") & (pol.region == "Wales")].mean())
q.pct("what % of policies are paid monthly?", (pol.pays_monthly == "yes").mean())
q.a("How many policies started in 2023?", (PY == 2023).sum())
q.a("Youngest and oldest customer age?", pol.customer_age.min(), pol.customer_age.max())
q.a("and for pets?", P[pol["product"] == "Pet"].mean(), earlier="What's the average annual premium for home insurance?")
q.a("How much have we paid out on claims so far?", cl.paid_amount.sum(), files=C)
q.by("number of claims by status", cl.groupby("status").size(), files=C)
q.top("What's the most common cause of claims?", cl.groupby("cause").size(), files=C)
q.a("Which single claim is the largest by claim amount?", cl.claim_amount.max(), texts=[cl.loc[cl.claim_amount.idxmax(), "claim_no"]], files=C)
q.a("Total claim amount for theft in 2024", cl[(cl.cause == "Theft") & (cl.claim_date.dt.year == 2024)].claim_amount.sum(), files=C)
q.by("Total claim amount by product", j.groupby("product").claim_amount.sum(), files=two)
q.top("In which region do we have the most claims?", j.groupby("region").size(), files=two)
q.a("How many claims were made on policies sold by BrightCover?", (j.broker == "BrightCover").sum(), files=two)
q.no("How many of our customers smoke?")
q.no("Are our motor premiums competitive compared with Aviva?")
q.no("Why were those claims rejected?", files=C)

finish()
