"""Makes the tables and questions of this set, by an author who knew nothing of the rules; figures by pandas."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from asking_too import Set, T, finish, ym


# ---------------------------------------------------------------- 药店
rng = np.random.default_rng(5101)
n = 2200
days = pd.date_range("2023-06-01", "2024-09-19")
w = 1 + .35 * np.cos(2 * np.pi * (days.day_of_year.values - 10) / 365) + np.linspace(0, .3, len(days))
d = np.sort(rng.choice(len(days), n, p=w / w.sum()))
d[-1] = len(days) - 1
drugs = [("阿莫西林胶囊", "处方药", 18.5), ("阿托伐他汀钙片", "处方药", 46), ("二甲双胍缓释片", "处方药", 29.8), ("苯磺酸氨氯地平片", "处方药", 33), ("布洛芬缓释胶囊", "OTC", 21.5), ("感冒灵颗粒", "OTC", 16.8), ("板蓝根颗粒", "OTC", 14.5), ("氯雷他定片", "OTC", 19.9), ("维生素C片", "保健品", 38), ("钙尔奇D片", "保健品", 89), ("蛋白粉", "保健品", 228), ("电子血压计", "医疗器械", 269), ("血糖试纸", "医疗器械", 98), ("医用口罩", "医疗器械", 12.9)]
pw = np.array([.08, .07, .06, .06, .11, .13, .09, .06, .08, .06, .03, .02, .05, .1])
pi = rng.choice(14, n, p=pw / pw.sum())
qty = rng.integers(1, 5, n)
store = rng.choice(["人民路店", "大学城店", "滨江店", "火车站店", "中心医院店"], n, p=[.24, .14, .19, .13, .3])
yb = np.where([drugs[i][1] == "处方药" for i in pi], rng.random(n) < .82, rng.random(n) < .12)
t = pd.DataFrame({"销售日期": days[d].strftime("%Y-%m-%d"), "门店": store, "小票号": [f"P{5000000 + 7 * i}" for i in range(n)], "药品名称": [drugs[i][0] for i in pi], "药品分类": [drugs[i][1] for i in pi], "数量": qty, "零售价": [drugs[i][2] for i in pi], "实收金额": np.round(qty * np.array([drugs[i][2] for i in pi]) * rng.choice([1, .95, .88], n, p=[.6, .25, .15]), 2), "是否医保": np.where(yb, "是", "否"), "会员卡号": [f"VIP{rng.integers(1, 420):04d}" if x < .58 else "" for x in rng.random(n)], "店员": rng.choice(["小周", "小吴", "小郑", "小冯", "小褚", "小卫"], n)})
t.to_csv(T / "药店销售.csv", index=False, encoding="utf-8-sig")
t = pd.read_csv(T / "药店销售.csv", parse_dates=["销售日期"])
q = Set("pharmacy", "药店销售.csv")
D, A = t["销售日期"], t["实收金额"]
Y = D.dt.year
q.a("五家店总共收了多少钱？", A.sum())
q.by("请按门店汇总实收金额，从高到低排", t.groupby("门店")["实收金额"].sum())
q.by("卖得最多的三种商品是哪些（按数量）", t.groupby("药品名称")["数量"].sum(), n=3)
q.a("2024年8月中心医院店收入多少", A[(ym(D) == "2024-08") & (t["门店"] == "中心医院店")].sum())
q.a("感冒灵颗粒一共卖出多少盒", t[t["药品名称"] == "感冒灵颗粒"]["数量"].sum())
q.pct("医保支付的金额占总收入百分之几", A[t["是否医保"] == "是"].sum() / A.sum())
q.trend("想看下从2023年7月到2024年8月每月收入的趋势", A[(D >= "2023-07-01") & (D < "2024-09-01")].groupby(ym(D)).sum())
m = A.groupby(ym(D)).sum()
g = [(str(p), m[p], m[p - 1]) for p in m.index[2:-1] if m[p] / m[p - 1] > 1.05][-1]
q.grow(f"{g[0][:4]}年{int(g[0][5:])}月收入环比增长多少", g[1], g[2])
q.grow("2024年7月和8月合计收入同比增长率是多少？", m["2024-07"] + m["2024-08"], m["2023-07"] + m["2023-08"])
q.a("会员消费了多少笔？就是有会员卡号的", t["会员卡号"].notna().sum())
q.a("一共有多少个不同的会员来消费过", t["会员卡号"].nunique())
q.top("哪个药品分类收入最低？", t.groupby("药品分类")["实收金额"].sum(), low=True)
q.a("除了医疗器械，其他品类的收入合计是多少", A[t["药品分类"] != "医疗器械"].sum())
q.a("平均每张小票多少钱，保留两位小数", A.mean())
q.a("上周收入多少？", A[(D >= "2024-09-09") & (D <= "2024-09-15")].sum())
q.a("滨江店呢", t[(t["门店"] == "滨江店") & (t["药品分类"] == "处方药")]["数量"].sum(), earlier="大学城店卖了多少数量的处方药？")
q.no("哪些药快过期了？")
q.no("感冒灵和板蓝根一起吃有没有副作用？")
q.no("中心医院店的租金占收入多少？")

# ---------------------------------------------------------------- 健身房
rng = np.random.default_rng(5102)
n = 640
days = pd.date_range("2023-01-01", "2024-10-31")
d = np.sort(rng.choice(len(days), n))
d[-1] = len(days) - 1
d[0] = 0
card = rng.choice(["月卡", "季卡", "年卡", "次卡"], n, p=[.28, .24, .34, .14])
price = {"月卡": 299, "季卡": 799, "年卡": 2380, "次卡": 500}
pt = np.where(rng.random(n) < .3, rng.integers(1, 6, n) * 6, 0)
vis = np.round(rng.gamma(2.2, 1, n) * np.array([{"月卡": 4, "季卡": 9, "年卡": 26, "次卡": 4}[c] for c in card])).astype(int)
t = pd.DataFrame({"会员编号": [f"M{1001 + i}" for i in range(n)], "性别": rng.choice(["男", "女"], n, p=[.46, .54]), "年龄": np.clip(np.round(rng.normal(32, 8, n)), 16, 68).astype(int), "办卡日期": [f"{x.year}/{x.month}/{x.day}" for x in days[d]], "门店": rng.choice(["万象城店", "科技园店", "老街店"], n, p=[.44, .35, .21]), "卡种": card, "实付金额": [round(price[c] * f) for c, f in zip(card, rng.choice([1, .9, .8, .75], n))], "私教课时": pt, "到店次数": vis, "来源": rng.choice(["地推", "朋友介绍", "美团", "抖音", "自然到店"], n, p=[.2, .25, .24, .2, .11]), "会籍顾问": rng.choice(["阿杰", "Linda", "小美", "大伟"], n, p=[.3, .27, .24, .19]), "是否续卡": np.where(rng.random(n) < .2 + .004 * np.minimum(vis, 100), "是", "否"), "体脂率%": np.where(rng.random(n) < .35, np.nan, np.round(rng.normal(24, 5, n), 1))})
t.to_csv(T / "健身会员.csv", index=False, encoding="utf-8-sig")
t = pd.read_csv(T / "健身会员.csv")
t["D"] = pd.to_datetime(t["办卡日期"], format="%Y/%m/%d")
q = Set("gym", "健身会员.csv")
D, A = t.D, t["实付金额"]
Y = D.dt.year
q.a("我们总共有多少会员？", len(t))
q.a("今年办卡收入多少", A[Y == 2024].sum())
q.by("不同卡种各办了多少张", t.groupby("卡种").size())
q.top("哪个会籍顾问卖卡金额最高", t.groupby("会籍顾问")["实付金额"].sum(), gap=.002)
q.pct("续卡率多少？", (t["是否续卡"] == "是").mean())
q.by("每个门店的续卡率对比一下", (t["是否续卡"] == "是").groupby(t["门店"]).mean(), dec=3)
q.a("会员的平均年龄", t["年龄"].mean(), dec=1)
q.a("女会员有多少人", (t["性别"] == "女").sum())
q.pct("抖音来的会员占多少比例", (t["来源"] == "抖音").mean())
q.a("万象城店2024年卖了多少张年卡？", ((t["门店"] == "万象城店") & (Y == 2024) & (t["卡种"] == "年卡")).sum())
q.a("30岁以下的会员办卡一共付了多少钱（不含30岁）", A[t["年龄"] < 30].sum())
q.trend("按季度看一下办卡人数，2023年一季度到2024年三季度", t[D < "2024-10-01"].groupby(D.dt.to_period("Q")).size())
q.topm("到店次数最多的会员来了多少次？", t["到店次数"])
q.by("到店次数最多的3位会员是谁", t.set_index("会员编号")["到店次数"], n=3)
q.a("有多少会员没有测体脂率", t["体脂率%"].isna().sum())
q.a("买过私教课的会员平均买了多少课时", t[t["私教课时"] > 0]["私教课时"].mean(), dec=1)
q.a("男的呢？", t[(t["性别"] == "男") & (t["卡种"] == "年卡")].shape[0], earlier="女会员里办年卡的有几个？")
q.no("哪位教练的课最受欢迎？")
q.no("怎么才能提高老街店的续卡率？")
q.no("附近新开的乐刻对我们影响大不大")

# ---------------------------------------------------------------- 采购
rng = np.random.default_rng(5103)
n = 860
days = pd.date_range("2023-01-03", "2024-12-31")
d = np.sort(rng.choice(len(days), n))
d[-1] = len(days) - 1
sup = ["苏州恒力五金", "宁波永盛包装", "东莞智联电子", "无锡华泰钢材", "常州新力化工", "上海德邦物流设备", "杭州文具批发中心", "南京安信劳保"]
scat = ["五金件", "包装材料", "电子元件", "钢材", "化工原料", "设备备件", "办公用品", "劳保用品"]
sm = [4200, 2800, 6900, 15500, 8300, 11800, 620, 980]
si = rng.choice(8, n, p=[.17, .17, .16, .12, .1, .08, .11, .09])
qty = rng.integers(10, 300, n)
price = np.array([round(sm[i] / 120 * rng.uniform(.8, 1.25), 2) for i in si])
od = days[d]
lead = rng.integers(3, 32, n)
arr = [(o + pd.Timedelta(days=int(x))) for o, x in zip(od, lead)]
t = pd.DataFrame({"采购单号": [f"PO{o:%Y}{i + 1:05d}" for i, o in enumerate(od)], "下单日期": od, "到货日期": [a if a <= days[-1] else pd.NaT for a in arr], "供应商": [sup[i] for i in si], "物料类别": [scat[i] for i in si], "需求部门": rng.choice(["生产一部", "生产二部", "仓储部", "设备部", "行政部"], n, p=[.36, .27, .14, .12, .11]), "数量": qty, "单价": price, "含税金额": np.round(qty * price * 1.13, 2), "付款状态": rng.choice(["已付", "部分付款", "未付"], n, p=[.68, .1, .22]), "采购员": rng.choice(["何静", "吕涛", "施敏"], n, p=[.42, .34, .24]), "是否加急": np.where(rng.random(n) < .15, "是", "否")})
t.loc[402, ["数量", "含税金额"]] = [9800, round(9800 * t.loc[402, "单价"] * 1.13, 2)]
t.to_excel(T / "采购订单.xlsx", index=False, sheet_name="采购订单")
s = pd.DataFrame({"供应商": sup, "所在城市": ["苏州", "宁波", "东莞", "无锡", "常州", "上海", "杭州", "南京"], "评级": ["A", "B", "A", "A", "C", "B", "B", "C"], "账期(天)": [60, 30, 45, 30, 30, 60, 15, 30]})
s.to_csv(T / "供应商名录.csv", index=False, encoding="utf-8-sig")
t = pd.read_excel(T / "采购订单.xlsx")
j = t.merge(s, on="供应商")
assert len(j) == n
q = Set("buying", "采购订单.xlsx")
two = ["tables/采购订单.xlsx", "tables/供应商名录.csv"]
D, A = t["下单日期"], t["含税金额"]
Y = D.dt.year
q.a("2023年采购总金额是多少", A[Y == 2023].sum())
q.by("按供应商看采购金额排名", t.groupby("供应商")["含税金额"].sum())
q.a("目前未付款的订单金额合计多少？状态是“未付”的那些", A[t["付款状态"] == "未付"].sum())
q.by("各需求部门下了多少张采购单", t.groupby("需求部门").size())
q.top("2024年哪类物料花钱最多？", t[Y == 2024].groupby("物料类别")["含税金额"].sum())
q.pct("加急单的占比是多少（按单数）", (t["是否加急"] == "是").mean())
q.a("还没到货的采购单有几张", t["到货日期"].isna().sum())
q.a("生产一部在2024年第二季度采购了多少钱的东西？", A[(t["需求部门"] == "生产一部") & (Y == 2024) & (D.dt.quarter == 2)].sum())
q.trend("2024年各月采购金额", A[Y == 2024].groupby(ym(D)).sum())
q.a("何静和吕涛分别采购了多少金额？对比一下", *[A[t["采购员"] == x].sum() for x in ("何静", "吕涛")], where="report")
q.a("采购金额里有没有明显异常的单子", A.max(), texts=[t.loc[A.idxmax(), "采购单号"]], where="report")
q.a("单笔含税金额在1万元到2万元之间的订单有多少张", A.between(10000, 20000).sum())
cs = A.groupby(t["供应商"]).sum().sort_values(ascending=False)
q.pct("前三大供应商占采购总额的多少", cs.head(3).sum() / cs.sum())
q.a("多少家供应商加起来就占了80%的采购额？", (cs.cumsum() / cs.sum() < .8).sum() + 1)
q.by("按供应商评级汇总采购金额", j.groupby("评级")["含税金额"].sum(), files=two)
q.a("我们给账期60天的供应商一共下了多少张采购单？", (j["账期(天)"] == 60).sum(), files=two)
q.a("那钢材呢？", A[(t["物料类别"] == "钢材") & (Y == 2024)].sum(), earlier="2024年化工原料采购了多少钱？")
q.no("这些钢材的市场价现在是多少？")
q.no("哪家供应商的不良率最高")
q.no("给我起草一份和东莞智联电子的降价谈判方案")

# ---------------------------------------------------------------- dental
rng = np.random.default_rng(5104)
n = 1320
days = pd.date_range("2023-09-01", "2024-08-20")
days = days[days.day_of_week < 6]
d = np.sort(rng.choice(len(days), n))
d[-1] = len(days) - 1
tr = {"Check-up": (45, 20), "Hygiene": (62, 30), "Filling": (130, 40), "Root canal": (420, 75), "Crown": (610, 60), "Extraction": (155, 40), "Whitening": (290, 60)}
tn = list(tr)
tx = rng.choice(7, n, p=[.35, .24, .16, .06, .05, .09, .05])
st = rng.choice(["Completed", "Cancelled", "No-show"], n, p=[.84, .1, .06])
pat = rng.choice(np.arange(3001, 3521), n)
t = pd.DataFrame({"appt_id": np.arange(70001, 70001 + n), "appointment_date": days[d].strftime("%Y-%m-%d"), "patient_id": pat, "patient_type": rng.choice(["Private", "NHS", "Insured"], n, p=[.41, .44, .15]), "dentist": rng.choice(["Dr Patel", "Dr Evans", "Dr Moreau", "Dr Kim"], n, p=[.33, .28, .22, .17]), "treatment": [tn[i] for i in tx], "duration_min": [tr[tn[i]][1] + int(rng.integers(-2, 5)) * 5 for i in tx], "status": st, "fee_gbp": np.where(st == "Completed", [round(tr[tn[i]][0] * rng.uniform(.8, 1.25)) for i in tx], np.nan), "new_patient": np.where(rng.random(n) < .17, "yes", "no")})
t.to_csv(T / "dental_appointments.csv", index=False)
t = pd.read_csv(T / "dental_appointments.csv", parse_dates=["appointment_date"])
q = Set("dental", "dental_appointments.csv")
D, A = t.appointment_date, t.fee_gbp
q.a("Total fees since the start?", A.sum())
q.by("how much has each dentist billed", t.groupby("dentist").fee_gbp.sum())
q.pct("What's our no-show rate?", (t.status == "No-show").mean())
q.a("How many appointments were cancelled?", (t.status == "Cancelled").sum())
q.top("Which treatment brings in the most money?", t.groupby("treatment").fee_gbp.sum())
q.a("How many root canals did Dr Patel complete?", ((t.treatment == "Root canal") & (t.dentist == "Dr Patel") & (t.status == "Completed")).sum())
q.a("what's the average fee for a crown", A[t.treatment == "Crown"].mean())
q.a("How much did we bill last month?", A[ym(D) == "2024-07"].sum())
q.trend("Please give me the fees month by month from September 2023 through July 2024", A[D < "2024-08-01"].groupby(ym(D)).sum())
q.pct("Share of fees that comes from private patients?", A[t.patient_type == "Private"].sum() / A.sum())
q.a("How many different patients have we had appointments with?", t.patient_id.nunique())
q.by("Number of appointments by treatment, most common first", t.groupby("treatment").size())
q.a("fees in Q1 2024, NHS only", A[(t.patient_type == "NHS") & (D.dt.year == 2024) & (D.dt.quarter == 1)].sum())
q.a("How many appointments are booked for more than 60 minutes?", (t.duration_min > 60).sum())
q.a("Standard deviation of the fee?", A.std(), tol=.005)
q.top("Which dentist has the highest no-show rate?", (t.status == "No-show").groupby(t.dentist).mean(), dec=3)
q.a("And Dr Kim?", ((t.dentist == "Dr Kim") & (t.new_patient == "yes")).sum(), earlier="How many new-patient appointments did Dr Moreau have?")
fst = D.groupby(t.patient_id).min()
fm = fst.groupby(ym(fst)).size()
q.trend("Taking each patient's first appointment in the file, how many patients started in each month?", fm[fm.index < "2024-08"])
q.no("How satisfied are our patients with Dr Evans?")
q.no("Why do people cancel?")
q.no("Write a reminder text message for patients who didn't turn up")

# ---------------------------------------------------------------- travel
rng = np.random.default_rng(5105)
n = 1150
days = pd.date_range("2022-01-03", "2024-06-17")
w = np.linspace(1, 1.7, len(days)) * (1 + .4 * (days.month == 1))
d = np.sort(rng.choice(len(days), n, p=w / w.sum()))
d[-1] = len(days) - 1
dest = {"Italy": 1150, "Japan": 2650, "Greece": 980, "Costa Rica": 1900, "Iceland": 1700, "Morocco": 890, "Thailand": 1450}
dn = list(dest)
di = [dn[i] for i in rng.choice(7, n, p=[.24, .13, .2, .1, .11, .09, .13])]
pax = rng.choice([1, 2, 3, 4, 5, 6], n, p=[.12, .49, .12, .18, .05, .04])
nights = np.clip(np.round(rng.normal(9, 3, n)), 3, 21).astype(int)
tot = np.round([dest[x] * p_ * (.4 + .067 * k) * rng.uniform(.85, 1.2) for x, p_, k in zip(di, pax, nights)], 0)
bk = days[d]
t = pd.DataFrame({"Booking Ref": [f"BK{i:05d}" for i in range(10230, 10230 + n)], "Booking Date": bk.strftime("%d-%b-%Y"), "Departure Date": (bk + pd.to_timedelta(rng.integers(14, 240, n), unit="D")).strftime("%d-%b-%Y"), "Destination": di, "Trip Type": rng.choice(["Package", "Tailor-made", "Flight only", "Cruise"], n, p=[.45, .3, .15, .1]), "Sales Channel": rng.choice(["Website", "Phone", "Branch"], n, p=[.52, .29, .19]), "Consultant": rng.choice(["Olivia", "Marcus", "Priya", "Tom", "Helen"], n, p=[.25, .23, .21, .17, .14]), "Travellers": pax, "Nights": nights, "Total Price (USD)": tot, "Commission (USD)": np.round(tot * rng.choice([.08, .1, .12], n), 2), "Travel Insurance": np.where(rng.random(n) < .37, "Yes", "No"), "Review Rating": np.where(rng.random(n) < .5, np.nan, rng.choice([2, 3, 4, 5], n, p=[.06, .14, .42, .38]))})
t.loc[pd.to_datetime(t["Departure Date"], format="%d-%b-%Y") > days[-1], "Review Rating"] = np.nan
t.to_csv(T / "travel_bookings.csv", index=False)
t = pd.read_csv(T / "travel_bookings.csv")
for c in ("Booking Date", "Departure Date"):
    t[c] = pd.to_datetime(t[c], format="%d-%b-%Y")
q = Set("travel", "travel_bookings.csv")
D, A = t["Booking Date"], t["Total Price (USD)"]
Y = D.dt.year
q.a("What was the total value of bookings made in 2023?", A[Y == 2023].sum())
q.by("commission earned by each consultant", t.groupby("Consultant")["Commission (USD)"].sum())
q.top("What is our best-selling destination by number of bookings?", t.groupby("Destination").size())
q.by("Top three destinations by total price", t.groupby("Destination")["Total Price (USD)"].sum(), n=3)
q.grow("By how many percent did the number of bookings increase from 2022 to 2023?", (Y == 2023).sum(), (Y == 2022).sum())
q.a("total number of travellers booked to Japan", t[t.Destination == "Japan"].Travellers.sum())
q.pct("What proportion of bookings came through the website?", (t["Sales Channel"] == "Website").mean())
q.pct("how often is travel insurance added, in % of bookings", (t["Travel Insurance"] == "Yes").mean())
q.a("Average price of a cruise booking?", A[t["Trip Type"] == "Cruise"].mean())
q.a("Median number of nights for trips to Costa Rica", t[t.Destination == "Costa Rica"].Nights.median())
q.a("How many bookings depart in August 2024?", (ym(t["Departure Date"]) == "2024-08").sum())
q.a("What's the most expensive booking we've taken? Give me the reference and the price.", A.max(), texts=[t.loc[A.idxmax(), "Booking Ref"]])
q.trend("How have the quarterly booking values developed, by booking date, from 2022 Q1 to 2024 Q1?", A[D < "2024-04-01"].groupby(D.dt.to_period("Q")).sum())
q.a("Commission on tailor-made trips sold by phone in 2023?", t[(t["Trip Type"] == "Tailor-made") & (t["Sales Channel"] == "Phone") & (Y == 2023)]["Commission (USD)"].sum())
q.by("Average review rating per destination", t.groupby("Destination")["Review Rating"].mean(), dec=1)
q.by("by channel instead", t.groupby("Sales Channel")["Total Price (USD)"].sum(), earlier="Show me total price by trip type")
q.no("How many customers asked for a refund?")
q.no("Is it safe to travel to Morocco this autumn?")
q.no("Which destination should we promote next year and why?")

# ---------------------------------------------------------------- fleet
rng = np.random.default_rng(5106)
n = 1560
days = pd.date_range("2024-01-01", "2024-12-31")
days = days[days.day_of_week < 6]
d = np.sort(rng.choice(len(days), n))
d[-1] = len(days) - 1
veh = {"KL-201": "Van", "KL-202": "Van", "KL-203": "Van", "KT-310": "Truck 7.5t", "KT-311": "Truck 7.5t", "KT-312": "Truck 7.5t", "KH-501": "Truck 18t", "KH-502": "Truck 18t"}
vn = list(veh)
vi = [vn[i] for i in rng.choice(8, n, p=[.16, .14, .15, .13, .12, .12, .1, .08])]
km = np.round(rng.gamma(3.2, 48, n) + 15, 1)
per = {"Van": .095, "Truck 7.5t": .165, "Truck 18t": .27}
fuel = np.round([k * per[veh[v]] * rng.uniform(.88, 1.15) for k, v in zip(km, vi)], 1)
t = pd.DataFrame({"Trip No": np.arange(24001, 24001 + n), "date": days[d].strftime("%Y-%m-%d"), "vehicle": vi, "vehicle type": [veh[v] for v in vi], "driver": rng.choice(["Novak", "Svoboda", "Dvorak", "Cerny", "Prochazka", "Kucera", "Vesely"], n, p=[.18, .17, .16, .15, .13, .11, .1]), "depot": rng.choice(["Brno", "Ostrava", "Plzen"], n, p=[.47, .3, .23]), "distance km": km, "fuel litres": fuel, "fuel cost EUR": np.round(fuel * rng.uniform(1.48, 1.66, n), 2), "toll EUR": [round(k * .11, 2) if veh[v] != "Van" and rng.random() < .85 else None for k, v in zip(km, vi)], "stops": rng.integers(1, 19, n), "on time": np.where(rng.random(n) < .885, "Y", "N")})
t.to_csv(T / "fleet_trips.csv", index=False, sep=";")
t = pd.read_csv(T / "fleet_trips.csv", sep=";", parse_dates=["date"])
q = Set("fleet", "fleet_trips.csv")
D, K = t.date, t["distance km"]
q.a("how many km did the fleet drive in 2024", K.sum())
q.by("Fuel cost per vehicle please", t.groupby("vehicle")["fuel cost EUR"].sum())
q.top("Which driver did the most trips?", t.groupby("driver").size())
q.a("How much did we pay in tolls in the first quarter?", t[D.dt.quarter == 1]["toll EUR"].sum())
q.pct("What percentage of trips were on time?", (t["on time"] == "Y").mean())
q.top("Which depot has the worst on-time rate and how bad is it?", (t["on time"] == "Y").groupby(t.depot).mean(), low=True, dec=3, gap=.001)
q.a("average distance per trip for vans", K[t["vehicle type"] == "Van"].mean(), dec=1)
q.trend("Monthly fuel cost", t.groupby(ym(D))["fuel cost EUR"].sum())
q.topm("In which month did we drive the most kilometres and how many?", K.groupby(ym(D)).sum())
q.a("What's the correlation between distance and fuel litres?", K.corr(t["fuel litres"]), tol=.01)
q.a("How many trips have no toll recorded?", t["toll EUR"].isna().sum())
q.a("Longest trip of the year - how far, and which driver?", K.max(), texts=[t.loc[K.idxmax(), "driver"]])
q.by("the five drivers with the highest fuel cost, please", t.groupby("driver")["fuel cost EUR"].sum(), n=5)
q.pct("What share of total distance is done from Brno?", K[t.depot == "Brno"].sum() / K.sum())
q.a("How many trips of more than 300 km did Ostrava make?", ((K > 300) & (t.depot == "Ostrava")).sum())
q.a("And in the second half?", t[(D.dt.month > 6) & (t.depot == "Plzen")]["fuel cost EUR"].sum(), earlier="What did Plzen spend on fuel in the first half of 2024?")
q.trend("Show the 3-month rolling average of the monthly fuel cost", t.groupby(ym(D))["fuel cost EUR"].sum().rolling(3).mean().dropna())
q.no("When is KT-311 due for its next service?")
q.no("What will diesel cost next spring?")
q.no("How much do we pay the drivers per hour?")

finish()
