"""Makes the tables and questions of this set, by an author who knew nothing of the rules; figures by pandas."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from asking_too import Set, T, finish, ym


# ---------------------------------------------------------------- 批发
rng = np.random.default_rng(4101)
n = 1800
days = pd.date_range("2023-01-01", "2025-03-18")
w = np.linspace(1, 1.9, len(days))
d = np.sort(rng.choice(len(days), n, p=w / w.sum()))
d[-1] = len(days) - 1
pre = ["鑫源", "恒达", "百味", "金穗", "永旺", "德胜", "万佳", "同福", "嘉禾", "瑞丰"]
suf = ["餐饮管理有限公司", "超市", "便利连锁", "商贸行"]
cust = [p + s for p in pre for s in suf]
ctype = {"餐饮管理有限公司": "餐饮", "超市": "商超", "便利连锁": "便利店", "商贸行": "二批商"}
creg = {c: ["华东", "华南", "华北", "西南"][rng.choice(4, p=[.4, .25, .2, .15])] for c in cust}
cw = rng.pareto(1.3, 40) + .15
ci = rng.choice(40, n, p=cw / cw.sum())
cat = np.array(["粮油", "酒水", "调味品", "休闲食品", "乳品"])[rng.choice(5, n, p=[.3, .18, .22, .18, .12])]
base = {"粮油": 168, "酒水": 420, "调味品": 96, "休闲食品": 75, "乳品": 58}
qty = rng.integers(3, 90, n)
price = np.array([round(base[c] * rng.uniform(.85, 1.2), 1) for c in cat])
qty[1111] = 2600
price[1111] = 455.0
cat[1111] = "酒水"
t = pd.DataFrame({
    "单据号": [f"XS{days[x]:%y%m%d}{i:04d}" for i, x in enumerate(d)],
    "下单日期": days[d].strftime("%Y-%m-%d"),
    "客户名称": [cust[i] for i in ci],
    "客户类型": [ctype[cust[i][2:]] for i in ci],
    "区域": [creg[cust[i]] for i in ci],
    "商品类别": cat,
    "业务员": rng.choice(["王志强", "李娜", "陈明", "赵雪梅", "孙浩"], n, p=[.28, .25, .2, .16, .11]),
    "数量(箱)": qty, "单价(元)": price, "金额(元)": np.round(qty * price, 2),
    "是否开票": np.where(rng.random(n) < .71, "是", "否"),
    "备注": np.where(rng.random(n) < .08, "客户自提", ""),
})
t.to_csv(T / "批发销售明细.csv", index=False, encoding="utf-8-sig")
t = pd.read_csv(T / "批发销售明细.csv", parse_dates=["下单日期"])
q = Set("wholesale", "批发销售明细.csv")
A, D = t["金额(元)"], t["下单日期"]
Y = D.dt.year
q.a("2024年全年一共卖了多少钱？", A[Y == 2024].sum())
q.by("各区域的销售额分别是多少", t.groupby("区域")["金额(元)"].sum())
q.top("哪个业务员2024年业绩最好？", t[Y == 2024].groupby("业务员")["金额(元)"].sum())
q.by("帮我列一下销售金额前5的客户", t.groupby("客户名称")["金额(元)"].sum(), n=5)
q.a("华东的酒水总共卖了多少箱", t[(t["区域"] == "华东") & (t["商品类别"] == "酒水")]["数量(箱)"].sum())
q.pct("粮油占总销售额的比例是多少？", A[t["商品类别"] == "粮油"].sum() / A.sum())
q.grow("2024年销售额比2023年增长了百分之多少？", A[Y == 2024].sum(), A[Y == 2023].sum())
q.trend("麻烦看一下2024年每个月的销售额走势", A[Y == 2024].groupby(ym(D)).sum())
q.a("上个月的销售额是多少", A[(Y == 2025) & (D.dt.month == 2)].sum())
q.a("还没开票的订单有多少笔，金额合计多少？", (t["是否开票"] == "否").sum(), A[t["是否开票"] == "否"].sum())
q.a("平均每单金额多少", A.mean())
cs = A.groupby(t["客户名称"]).sum().sort_values(ascending=False)
q.pct("前10大客户贡献了多少比例的销售额？", cs.head(10).sum() / cs.sum())
q.a("有没有金额异常大的订单？", A.max(), texts=[t.loc[A.idxmax(), "单据号"]], where="report")
q.a("那华南呢？", A[(Y == 2024) & (t["区域"] == "华南")].sum(), earlier="2024年华北的销售额是多少？")
q.a("2024年三季度调味品卖了多少钱", A[(Y == 2024) & (D.dt.quarter == 3) & (t["商品类别"] == "调味品")].sum())
q.a("今年到目前为止的销售额", A[Y == 2025].sum())
q.a("2024年有多少家客户下过单？", t[Y == 2024]["客户名称"].nunique())
q.no("哪个客户给我们带来的毛利最高？")
q.no("为什么华南这边今年做得不好，是竞争对手抢了吗")
q.no("帮我写一封给鑫源超市的催款函")

# ---------------------------------------------------------------- 招聘
rng = np.random.default_rng(4102)
n = 720
days = pd.date_range("2024-01-02", "2024-11-20")
d = np.sort(rng.choice(len(days), n))
d[-1] = len(days) - 1
jobs = {"Java开发工程师": ("研发部", 22000, 5), "测试工程师": ("研发部", 15500, 4), "产品经理": ("产品部", 20000, 5), "销售代表": ("销售部", 9000, 3), "大客户经理": ("销售部", 16000, 6), "会计": ("财务部", 9500, 5), "招聘专员": ("人事部", 8500, 3), "客服专员": ("客服部", 6500, 2)}
jn = list(jobs)
job = [jn[i] for i in rng.choice(8, n, p=[.2, .1, .12, .22, .08, .07, .06, .15])]
yrs = np.array([max(0, round(rng.gamma(2, jobs[j][2] / 2), 1)) for j in job])
pay = np.array([round(jobs[j][1] * (.75 + .05 * y) * rng.uniform(.9, 1.12) / 500) * 500 for j, y in zip(job, yrs)])
chan = rng.choice(["BOSS直聘", "前程无忧", "猎聘", "内推", "校园招聘"], n, p=[.38, .22, .14, .16, .1])
p = np.where(chan == "内推", .22, .09)
u = rng.random(n)
stage = np.where(u < p, "已入职", np.where(u < p + .05, "已发offer", np.where(u < p + .13, "复试", np.where(u < p + .25, "初试", np.where(u < p + .4, "简历筛选", "已淘汰")))))
score = np.where((stage == "简历筛选") | (rng.random(n) < .25), np.nan, np.clip(np.round(rng.normal(72, 11, n)), 30, 100))
app = days[d]
hd = [a + pd.Timedelta(days=int(rng.integers(12, 60))) for a in app]
stage = np.where((stage == "已入职") & (pd.DatetimeIndex(hd) > days[-1]), "已发offer", stage)
hire = [h.strftime("%Y/%m/%d") if s == "已入职" else "" for h, s in zip(hd, stage)]
t = pd.DataFrame({"候选人编号": [f"C{i:05d}" for i in range(1, n + 1)], "投递日期": app.strftime("%Y/%m/%d"), "应聘岗位": job, "部门": [jobs[j][0] for j in job], "招聘渠道": chan, "学历": rng.choice(["大专", "本科", "硕士"], n, p=[.3, .56, .14]), "工作年限": yrs, "期望月薪": pay, "笔试成绩": score, "当前阶段": stage, "入职日期": hire})
t.to_csv(T / "招聘台账.csv", index=False, encoding="utf-8-sig")
t = pd.read_csv(T / "招聘台账.csv", parse_dates=["投递日期", "入职日期"])
q = Set("hiring", "招聘台账.csv")
D = t["投递日期"]
q.a("今年一共收到多少份简历", len(t))
q.by("各个招聘渠道分别来了多少候选人？", t.groupby("招聘渠道").size())
q.top("哪个岗位投的人最多", t.groupby("应聘岗位").size())
q.a("已经入职的有几个人？", (t["当前阶段"] == "已入职").sum())
q.a("通过内推入职的人有多少", ((t["当前阶段"] == "已入职") & (t["招聘渠道"] == "内推")).sum())
q.a("Java开发工程师的平均期望月薪是多少？", t[t["应聘岗位"] == "Java开发工程师"]["期望月薪"].mean())
q.a("所有候选人期望月薪的中位数是多少", t["期望月薪"].median())
q.by("各部门候选人的平均工作年限", t.groupby("部门")["工作年限"].mean(), dec=1)
q.trend("2024年1月到10月每个月收到的简历数变化趋势", t[D < "2024-11-01"].groupby(ym(D)).size())
q.pct("本科学历的候选人占比多少？", (t["学历"] == "本科").mean())
q.a("有多少人没有笔试成绩？", t["笔试成绩"].isna().sum())
q.a("第三季度销售部收到多少份投递", ((t["部门"] == "销售部") & (D.dt.quarter == 3)).sum())
q.a("工作年限超过5年的候选人有几位", (t["工作年限"] > 5).sum())
q.top("哪个学历的笔试平均分最高？请给出分数", t.groupby("学历")["笔试成绩"].mean(), dec=1, gap=.0005)
q.a("那猎聘呢", (t["招聘渠道"] == "猎聘").sum(), earlier="BOSS直聘来了多少候选人？")
q.no("每招一个人平均花了多少招聘费用？")
q.no("我们开的工资在行业里算高还是低？")
q.no("下半年应该砍掉哪个渠道？给点建议")

# ---------------------------------------------------------------- 快递
rng = np.random.default_rng(4103)
months = pd.period_range("2023-07", "2024-12", freq="M")
rows = []
prov = ["浙江", "江苏", "广东", "上海", "山东", "四川", "湖北", "河南"]
pp = [.2, .18, .16, .13, .1, .09, .08, .06]
for k, m in enumerate(months):
    for _ in range(90 + 5 * k):
        ts = m.start_time + pd.Timedelta(minutes=int(rng.integers(0, m.days_in_month * 1440)))
        ts = ts.normalize() + pd.Timedelta(minutes=int(rng.integers(480, 1260)))
        pr = rng.choice(["标快", "特惠", "冷链", "同城"], p=[.46, .3, .1, .14])
        kg = round(float(np.clip(rng.gamma(1.8, 1.6), .2, 28)), 2)
        fee = {"标快": 12, "特惠": 8, "冷链": 30, "同城": 10}[pr] + {"标快": 3.2, "特惠": 1.9, "冷链": 5.5, "同城": 1.2}[pr] * max(0, kg - 1)
        hrs = round(float(rng.gamma(9, {"标快": 4.2, "特惠": 7.1, "冷链": 3.6, "同城": .7}[pr])), 1)
        late = hrs > {"标快": 52, "特惠": 88, "冷链": 42, "同城": 9}[pr]
        sc = rng.choice([1, 2, 3]) if late else rng.choice([3, 4, 5], p=[.12, .38, .5])
        rows.append([ts, rng.choice(["城东网点", "城西网点", "开发区网点", "高新网点"], p=[.32, .21, .29, .18]), rng.choice(prov, p=pp), pr, kg, round(fee, 1), hrs, "是" if late else "否", sc if rng.random() < .55 else None])
rows.sort(key=lambda r: r[0])
t = pd.DataFrame(rows, columns=["揽收时间", "网点", "目的省份", "产品类型", "重量kg", "运费", "时效(小时)", "是否延误", "客户评分"])
t.insert(0, "运单号", [f"YD{7700000 + 13 * i}" for i in range(len(t))])
t.to_excel(T / "快递运单.xlsx", index=False, sheet_name="运单")
t = pd.read_excel(T / "快递运单.xlsx")
q = Set("courier", "快递运单.xlsx")
D = t["揽收时间"]
F = t["运费"]
q.a("总运费收入是多少？", F.sum())
q.a("2024年揽收了多少票件", (D.dt.year == 2024).sum())
q.by("按网点统计一下运费", t.groupby("网点")["运费"].sum())
q.top("发往哪个省的件最多？", t.groupby("目的省份").size())
q.a("冷链件平均运费多少钱", t[t["产品类型"] == "冷链"]["运费"].mean())
q.pct("整体延误率是多少", (t["是否延误"] == "是").mean())
lt = (t["是否延误"] == "是").groupby(t["产品类型"]).mean()
q.top("哪种产品的延误率最高？", lt, dec=3)
q.a("2024年四季度城东网点的运费收入", F[(D.dt.year == 2024) & (D.dt.quarter == 4) & (t["网点"] == "城东网点")].sum())
q.grow("2024年12月的运费同比增长多少？", F[ym(D) == "2024-12"].sum(), F[ym(D) == "2023-12"].sum())
q.trend("我想看每个月的票件量趋势", t.groupby(ym(D)).size())
q.a("按现在这个趋势，2025年1月运费收入预计多少？", np.polyval(np.polyfit(range(18), F.groupby(ym(D)).sum().values, 1), 18), tol=.12)
q.a("时效的90分位数是多少小时", t["时效(小时)"].quantile(.9), tol=.01)
q.a("重量和运费的相关系数是多少？", t["重量kg"].corr(F), tol=.01)
q.a("超过10公斤的包裹有几票", (t["重量kg"] > 10).sum())
q.a("客户没有打分的运单有多少？", t["客户评分"].isna().sum())
q.by("换成按产品类型看", t.groupby("产品类型")["运费"].mean(), earlier="各网点的平均运费是多少？", dec=1)
q.no("快递员里谁派件最多？")
q.no("延误主要是什么原因造成的？")
q.no("跟顺丰比我们的价格有优势吗？")

# ---------------------------------------------------------------- subscriptions
rng = np.random.default_rng(4104)
n = 940
days = pd.date_range("2022-01-01", "2024-12-12")
w = np.linspace(1, 2.2, len(days))
d = np.sort(rng.choice(len(days), n, p=w / w.sum()))
d[-1] = len(days) - 1
plan = rng.choice(["Starter", "Team", "Business", "Enterprise"], n, p=[.44, .31, .18, .07])
seats = np.array([int(rng.integers(*{"Starter": (1, 5), "Team": (4, 20), "Business": (15, 80), "Enterprise": (60, 400)}[p_])) for p_ in plan])
mrr = np.array([round(s * {"Starter": 9, "Team": 12, "Business": 15, "Enterprise": 13}[p_] * rng.uniform(.85, 1), 2) for s, p_ in zip(seats, plan)])
cyc = np.where(rng.random(n) < .62, "monthly", "annual")
st, cd = [], []
for i in range(n):
    left = len(days) - 1 - d[i]
    if left > 40 and rng.random() < {"Starter": .42, "Team": .3, "Business": .2, "Enterprise": .12}[plan[i]]:
        st.append("cancelled")
        cd.append((days[d[i]] + pd.Timedelta(days=int(rng.integers(30, left + 1)))).strftime("%Y-%m-%d"))
    else:
        st.append("paused" if rng.random() < .05 else "active")
        cd.append("")
t = pd.DataFrame({"subscription_id": [f"sub_{10000 + i}" for i in range(n)], "signup_date": days[d].strftime("%Y-%m-%d"), "cancel_date": cd, "plan": plan, "billing_cycle": cyc, "country": rng.choice(["United Kingdom", "Germany", "France", "Netherlands", "Spain", "Ireland"], n, p=[.36, .22, .15, .11, .09, .07]), "acquisition_channel": rng.choice(["organic", "paid_search", "partner", "referral", "outbound"], n, p=[.33, .27, .15, .14, .11]), "seats": seats, "mrr_eur": mrr, "status": st, "auto_renew": np.where(rng.random(n) < .78, "yes", "no")})
t.loc[rng.choice(n, 31, replace=False), "acquisition_channel"] = None
t.to_csv(T / "subscriptions.csv", index=False)
t = pd.read_csv(T / "subscriptions.csv", parse_dates=["signup_date", "cancel_date"])
q = Set("subs", "subscriptions.csv")
D = t["signup_date"]
act = t[t.status == "active"]
q.a("What's our total MRR from active subscriptions?", act.mrr_eur.sum())
q.by("how many subscriptions per plan, all statuses together?", t.groupby("plan").size())
q.a("How many customers cancelled in 2024?", (t.cancel_date.dt.year == 2024).sum())
q.top("Across all subscriptions, whatever their status, which country has the highest total MRR?", t.groupby("country").mrr_eur.sum())
q.pct("what share of all subscriptions is billed annually", (t.billing_cycle == "annual").mean())
q.a("Average seats on the Business plan?", t[t.plan == "Business"].seats.mean(), dec=1)
q.grow("By what percentage did sign-ups grow in 2023 compared with 2022?", (D.dt.year == 2023).sum(), (D.dt.year == 2022).sum())
q.trend("Can you show me new signups per quarter?", t[D < "2024-10-01"].groupby(D.dt.to_period("Q")).size())
q.by("Total MRR by acquisition channel for signups in 2024 please", t[D.dt.year == 2024].groupby("acquisition_channel").mrr_eur.sum())
q.a("How many signups last month?", (ym(D) == "2024-11").sum())
q.a("number of active enterprise subscriptions in Germany", ((t.status == "active") & (t.plan == "Enterprise") & (t.country == "Germany")).sum())
q.a("What's the median MRR over all the subscriptions in the file?", t.mrr_eur.median())
q.a("How many records are missing an acquisition channel?", t.acquisition_channel.isna().sum())
q.top("Of the cancelled subscriptions, which plan accounts for the most?", t[t.status == "cancelled"].groupby("plan").size())
q.a("And France?", act[act.country == "France"].mrr_eur.sum(), earlier="What is the MRR of active subscriptions in Spain?")
q.by("Top 3 countries by number of seats", t.groupby("country").seats.sum(), n=3)
q.no("Why are Starter customers churning?")
q.no("What is our customer acquisition cost by channel?")
q.no("Which features do Enterprise customers use the most?")

# ---------------------------------------------------------------- energy
rng = np.random.default_rng(4105)
weeks = pd.date_range("2023-01-02", "2024-12-30", freq="7D")
sites = {"Bristol Depot": 5200, "Leeds Warehouse": 8900, "Cardiff Office": 2100, "Derby Workshop": 6400, "Exeter Store": 1700}
rows = []
for k, x in enumerate(weeks):
    season = 1 + .25 * np.cos(2 * np.pi * (x.day_of_year - 15) / 365)
    for s, b in sites.items():
        for mt in ("Electricity", "Gas"):
            if s == "Exeter Store" and mt == "Gas":
                continue
            f = season if mt == "Electricity" else 1.1 * season ** 3
            kwh = round(b * f * (1 if mt == "Electricity" else .8) * rng.uniform(.9, 1.1) * (1 + .0009 * k), 1)
            rate = (.271 if mt == "Electricity" else .074) * (1 + .04 * (x.year == 2024))
            rows.append([x.strftime("%d/%m/%Y"), s, mt, kwh, round(kwh * rate, 2), round(kwh / 168 * rng.uniform(2, 3), 1) if mt == "Electricity" else None, "Y" if rng.random() < .09 else "N"])
t = pd.DataFrame(rows, columns=["Week Commencing", "Site", "Meter Type", "Consumption (kWh)", "Cost (£)", "Peak Demand (kW)", "Estimated Reading"])
t.to_csv(T / "energy_readings.csv", index=False)
t = pd.read_csv(T / "energy_readings.csv")
t["D"] = pd.to_datetime(t["Week Commencing"], format="%d/%m/%Y")
q = Set("energy", "energy_readings.csv")
C, K, Y = t["Cost (£)"], t["Consumption (kWh)"], t.D.dt.year
EL = t["Meter Type"] == "Electricity"
q.a("How much did we spend on energy in 2024?", C[Y == 2024].sum())
q.by("Cost by site please", t.groupby("Site")["Cost (£)"].sum())
q.top("Which site uses the most electricity?", t[EL].groupby("Site")["Consumption (kWh)"].sum())
q.a("total gas consumption at the Leeds warehouse in 2023", K[~EL & (Y == 2023) & (t.Site == "Leeds Warehouse")].sum())
q.grow("By what percentage did our total energy cost go up from 2023 to 2024?", C[Y == 2024].sum(), C[Y == 2023].sum())
q.pct("what percentage of the total cost is gas", C[~EL].sum() / C.sum())
q.trend("Monthly electricity consumption for 2024", K[EL & (Y == 2024)].groupby(ym(t.D)).sum())
q.a("What was the highest peak demand we ever recorded and where?", t["Peak Demand (kW)"].max(), texts=[t.loc[t["Peak Demand (kW)"].idxmax(), "Site"]])
q.a("How many readings were estimated?", (t["Estimated Reading"] == "Y").sum())
q.a("average weekly electricity consumption of the Cardiff office", K[EL & (t.Site == "Cardiff Office")].mean())
q.a("What did Derby Workshop cost us in Q1 2024?", C[(t.Site == "Derby Workshop") & (Y == 2024) & (t.D.dt.quarter == 1)].sum())
q.a("Compare the 2024 electricity cost of Bristol Depot with that of Derby Workshop", *[C[EL & (Y == 2024) & (t.Site == s)].sum() for s in ("Bristol Depot", "Derby Workshop")], where="report")
q.topm("In which month of 2023 was our energy bill the highest, and how much was it?", C[Y == 2023].groupby(ym(t.D)).sum())
q.a("what about gas?", K[~EL & (Y == 2024)].sum(), earlier="How many kWh of electricity did we consume in 2024?")
q.a("Total cost excluding Leeds Warehouse?", C[t.Site != "Leeds Warehouse"].sum())
q.no("How much CO2 did we emit last year?")
q.no("Would it be worth putting solar panels on the Leeds roof?")
q.no("Why was January so expensive?")

# ---------------------------------------------------------------- call centre
rng = np.random.default_rng(4106)
n = 1480
agents = ["Amy Clarke", "Ben Osei", "Carla Ruiz", "Dan Whitfield", "Ewa Nowak", "Farid Khan", "Grace Lin", "Harry Doyle", "Isla Munro", "Jack Petrov"]
ag = pd.DataFrame({"Agent": agents, "Team": ["Blue", "Blue", "Green", "Green", "Red", "Red", "Blue", "Green", "Red", "Blue"], "Site": ["Dublin", "Cork", "Dublin", "Dublin", "Cork", "Cork", "Dublin", "Cork", "Dublin", "Cork"], "Contract": ["Full-time", "Part-time", "Full-time", "Full-time", "Full-time", "Part-time", "Full-time", "Full-time", "Part-time", "Full-time"]})
ag.to_csv(T / "agents.csv", index=False)
days = pd.date_range("2024-01-02", "2024-05-14")
d = np.sort(rng.choice(len(days), n))
d[-1] = len(days) - 1
que = rng.choice(["Billing", "Technical", "Sales", "Cancellations"], n, p=[.36, .33, .19, .12])
wait = np.round(rng.gamma(1.4, 60, n)).astype(int)
hand = np.round(rng.gamma(4, 1, n) * np.array([{"Billing": 75, "Technical": 130, "Sales": 95, "Cancellations": 85}[x] for x in que])).astype(int) + 20
res = np.where(rng.random(n) < np.array([{"Billing": .84, "Technical": .68, "Sales": .9, "Cancellations": .74}[x] for x in que]), "Yes", "No")
cs = np.clip(np.round(4.3 - .006 * wait - .9 * (res == "No") + rng.normal(0, .7, n)), 1, 5)
cs = np.where(rng.random(n) < .4, np.nan, cs)
mins = np.sort(rng.integers(480, 1200, n))
t = pd.DataFrame({"Call ID": [f"CL-{200001 + i}" for i in range(n)], "Call Start": [(days[x] + pd.Timedelta(minutes=int(m))).strftime("%Y-%m-%d %H:%M") for x, m in zip(d, rng.permutation(mins))], "Agent": rng.choice(agents, n, p=[.14, .07, .12, .11, .13, .06, .11, .1, .06, .1]), "Queue": que, "Wait Time (sec)": wait, "Handle Time (sec)": hand, "Resolved": res, "Transferred": np.where(rng.random(n) < .13, "Yes", "No"), "CSAT Score": cs})
t.to_csv(T / "call_log.csv", index=False)
t = pd.read_csv(T / "call_log.csv", parse_dates=["Call Start"])
q = Set("calls", "call_log.csv")
D = t["Call Start"]
both = ["tables/call_log.csv", "tables/agents.csv"]
j = t.merge(ag, on="Agent")
assert len(j) == len(t)
q.a("How many calls did we take in March?", (ym(D) == "2024-03").sum())
q.by("calls per queue", t.groupby("Queue").size())
q.a("What is the average wait time?", t["Wait Time (sec)"].mean(), dec=1)
q.top("Who handled the most calls?", t.groupby("Agent").size())
q.by("Average handle time by queue", t.groupby("Queue")["Handle Time (sec)"].mean(), dec=1)
q.pct("What percentage of calls got resolved?", (t.Resolved == "Yes").mean())
q.top("Which queue has the lowest resolution rate, and what is it?", (t.Resolved == "Yes").groupby(t.Queue).mean(), low=True, dec=3)
q.a("How many billing calls were transferred?", ((t.Queue == "Billing") & (t.Transferred == "Yes")).sum())
q.a("Median handle time for technical calls?", t[t.Queue == "Technical"]["Handle Time (sec)"].median())
q.a("what's the 95th percentile wait time", t["Wait Time (sec)"].quantile(.95), tol=.01)
q.trend("Show the number of calls by month from January to April", t[D < "2024-05-01"].groupby(ym(D)).size())
q.a("How many callers waited more than 3 minutes (180 seconds)?", (t["Wait Time (sec)"] > 180).sum())
q.top("Who has the best average CSAT?", t.groupby("Agent")["CSAT Score"].mean(), gap=.001, dec=2)
q.by("Number of calls by team", j.groupby("Team").size(), files=both)
q.a("Average handle time for calls taken by agents in Cork?", j[j.Site == "Cork"]["Handle Time (sec)"].mean(), dec=1, files=both)
q.a("and in April?", ((ym(D) == "2024-04") & (t.Queue == "Sales")).sum(), earlier="How many sales calls did we get in March?")
q.a("How are the CSAT scores distributed?", *t["CSAT Score"].value_counts().sort_index().tolist(), where="report")
q.no("How many calls were abandoned before an agent picked up?")
q.no("What should we do to improve Technical's resolution rate?")
q.no("What is the industry benchmark for CSAT in telecoms?")

finish()
