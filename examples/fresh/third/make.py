"""Makes the tables and questions of this set, by an author who knew nothing of the rules; figures by pandas."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from asking import Pct, Table, dates, finish, path


def r2(x):
    return float(np.round(x, 2))


# ---------------------------------------------------------------- 学校成绩
def school():
    rng = np.random.default_rng(301)
    sur = list("王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董程曹袁邓许傅沈曾彭吕")
    g1 = list("子雨欣宇轩浩然梓涵诗琪俊杰思远佳怡博文嘉昊天一诺可馨睿晨奕铭语桐景行若曦")
    seen, stu = set(), []
    cls = {"七1班": 1.5, "七2班": -1.8, "七3班": 0.2, "八1班": 3.1, "八2班": -0.6, "八3班": -2.9}
    for c in cls:
        for _ in range(int(rng.integers(36, 42))):
            while True:
                x = rng.choice(sur) + "".join(rng.choice(g1, 2, replace=False))
                if x not in seen:
                    break
            seen.add(x)
            stu.append((f"2024{len(stu) + 1:03d}", x, c, rng.normal(0, 7)))
    sub = {"语文": (79, 7), "数学": (75, 13), "英语": (77, 11), "历史": (81, 8), "生物": (78, 9)}
    tea = {"语文": ["陈老师", "夏老师"], "数学": ["郑老师", "石老师"], "英语": ["白老师", "唐老师"], "历史": ["卢老师", "卢老师"], "生物": ["顾老师", "顾老师"]}
    rows = []
    for ex, d0, up in (("期中考试", "2024-11-06", 0), ("期末考试", "2025-01-14", 1.4)):
        for k, (s, (mu, sd)) in enumerate(sub.items()):
            d = pd.Timestamp(d0) + pd.Timedelta(days=k // 3)
            for no, nm, c, ab in stu:
                miss = rng.random() < 0.011
                sc = float(np.clip(np.round((mu + up + ab * sd / 10 + cls[c] + rng.normal(0, sd * 0.7)) * 2) / 2, 18, 100))
                rows.append((no, nm, c[0] + "年级", c, s, ex, d.strftime("%Y-%m-%d"), None if miss else sc, tea[s][0 if c[0] == "七" else 1], "是" if miss else "否"))
    df = pd.DataFrame(rows, columns=["学号", "姓名", "年级", "班级", "科目", "考试名称", "考试日期", "分数", "任课老师", "是否缺考"])
    df.to_csv(path("成绩表.csv"), index=False, encoding="utf-8-sig")
    df = pd.read_csv(path("成绩表.csv"), encoding="utf-8-sig")
    print("school", len(df))
    fin = df["考试名称"] == "期末考试"; S = df["分数"]; ma = df["科目"] == "数学"
    t = Table("school", "成绩表.csv")
    t.q("期末考试数学的平均分是多少？", [S[fin & ma].mean()])
    t.q("那英语呢？", [S[fin & (df["科目"] == "英语")].mean()], earlier=["期末考试数学的平均分是多少？"])
    t.groups("期末考试各科目的平均分分别是多少", df[fin].groupby("科目")["分数"].mean())
    t.top("期末考试哪个班的平均分最高？", df[fin].groupby("班级")["分数"].mean())
    t.q("期末考试缺考了多少人次", [(fin & (df["是否缺考"] == "是")).sum()])
    t.q("期末数学考了90分及以上的有多少人？", [(fin & ma & (S >= 90)).sum()])
    t.q("期中考试英语最高分是多少", [S[~fin & (df["科目"] == "英语")].max()])
    t.q("期中考试语文分数的中位数是多少？", [S[~fin & (df["科目"] == "语文")].median()])
    t.q("对比一下八1班期中考试和期末考试的平均分", [S[~fin & (df["班级"] == "八1班")].mean(), S[fin & (df["班级"] == "八1班")].mean()], report=True)
    t.q("我们一共有多少名学生？", [df["学号"].nunique()])
    t.q("期末考试数学成绩的标准差是多少？", [S[fin & ma].std()], tol=0.006)
    tot = df[fin].groupby("姓名")["分数"].sum()
    t.groups("期末考试总分前三名的学生是谁，各考了多少分？", tot, 3)
    t.top("期末考试里60分以下人次最多的是哪个科目？", df[fin & (S < 60)].groupby("科目").size())
    t.groups("每个班各有多少学生", df.groupby("班级")["学号"].nunique())
    t.q("八年级期末历史平均分", [S[fin & (df["年级"] == "八年级") & (df["科目"] == "历史")].mean()])
    t.no("八3班成绩为什么落后？")
    t.no("这些学生里有多少人能考上重点高中？")
    t.no("家长满意度最高的老师是谁？")


# ---------------------------------------------------------------- 物业收费
def property_():
    rng = np.random.default_rng(302)
    rows = []
    units = []
    for b in ("1号楼", "2号楼", "3号楼", "5号楼"):
        for f in range(1, 13):
            for r in (1, 2):
                a = float(rng.choice([78.5, 89.2, 102.6, 118.0, 136.4]))
                units.append((b, f"{b[0]}-{f:02d}{r:02d}", a, rng.random() < 0.55, rng.beta(1, 12) if b != "3号楼" else rng.beta(1.5, 8)))
    for mth in range(1, 10):
        for b, no, a, park, bad in units:
            for ty, amt in (("物业费", r2(a * 2.8)), ("停车费", 300.0 if park else None), ("公共水电分摊", r2(rng.normal(42, 9) + (12 if mth in (7, 8) else 0)))):
                if amt is None:
                    continue
                owe = rng.random() < bad * (1.6 if mth >= 8 else 1)
                pay = None if owe else pd.Timestamp(2024, mth, 1) + pd.Timedelta(days=int(min(26, rng.gamma(1.6, 5))))
                rows.append((f"2024-{mth:02d}", b, no, a, ty, amt, 0.0 if owe else amt, amt if owe else 0.0, "是" if owe else "否",
                             None if owe else pay.strftime("%Y-%m-%d"), None if owe else rng.choice(["微信", "支付宝", "银行代扣", "现金"], p=[0.46, 0.24, 0.24, 0.06])))
    df = pd.DataFrame(rows, columns=["账期", "楼栋", "房号", "建筑面积(㎡)", "费用类型", "应收金额", "实收金额", "欠费金额", "是否欠费", "缴费日期", "缴费方式"])
    df.to_csv(path("物业收费明细.csv"), index=False)
    df = pd.read_csv(path("物业收费明细.csv"))
    print("property", len(df))
    Y, R, O = df["应收金额"], df["实收金额"], df["欠费金额"]
    t = Table("property", "物业收费明细.csv")
    t.q("今年1到9月一共应收多少钱？", [Y.sum()])
    t.groups("各楼栋的实收金额是多少", df.groupby("楼栋")["实收金额"].sum())
    t.q("目前总欠费金额是多少？", [O.sum()])
    t.top("哪栋楼欠费金额最多", df.groupby("楼栋")["欠费金额"].sum())
    t.q("有多少户欠过费？按房号算", [df.loc[df["是否欠费"] == "是", "房号"].nunique()])
    t.groups("欠费金额最多的5个房号", df.groupby("房号")["欠费金额"].sum(), 5)
    t.q("停车费占实收金额的比例", [Pct(R[df["费用类型"] == "停车费"].sum() / R.sum())])
    t.trend("按账期看每个月的实收金额", R.groupby(df["账期"]).sum())
    t.q("通过微信缴费的有多少笔？", [(df["缴费方式"] == "微信").sum()])
    t.q("6月账期的物业费应收金额是多少？", [Y[(df["账期"] == "2024-06") & (df["费用类型"] == "物业费")].sum()])
    t.q("2号楼停车费实收多少？", [R[(df["楼栋"] == "2号楼") & (df["费用类型"] == "停车费")].sum()])
    t.q("那5号楼呢？", [R[(df["楼栋"] == "5号楼") & (df["费用类型"] == "停车费")].sum()], earlier=["2号楼停车费实收多少？"])
    t.q("整体收缴率是多少？就是实收金额除以应收金额", [Pct(R.sum() / Y.sum())])
    t.q("没有缴费日期的记录有多少条？", [df["缴费日期"].isna().sum()])
    t.q("除了物业费，其他费用的应收金额合计是多少", [Y[df["费用类型"] != "物业费"].sum()])
    t.no("帮我写一份催缴物业费的通知")
    t.no("这个小区现在房价多少钱一平？")
    t.no("3号楼的业主为什么不愿意交费？")


# ---------------------------------------------------------------- 汽修店工单
def garage():
    rng = np.random.default_rng(303)
    n = 1180
    ty = {"常规保养": (0.42, 120, 310), "钣金喷漆": (0.16, 480, 520), "机电维修": (0.22, 330, 680), "轮胎更换": (0.12, 80, 960), "空调检修": (0.08, 180, 240)}
    br = {"大众": 0.24, "丰田": 0.19, "本田": 0.15, "比亚迪": 0.16, "别克": 0.11, "宝马": 0.08, "奥迪": 0.07}
    pf = {"宝马": 1.9, "奥迪": 1.75, "别克": 1.05}
    d = dates(rng, "2024-02-01", "2024-09-25", n, lambda x: (0.1 if x.weekday() == 0 else 1.4 if x.weekday() > 4 else 1) * (1 + 0.04 * x.month))
    k = rng.choice(list(ty), n, p=[v[0] for v in ty.values()])
    nc = 640
    plate = [f"苏E{rng.choice(list('ABCDFGHJK'))}{rng.integers(1000, 9999)}" for _ in range(nc)]
    cb = rng.choice(list(br), nc, p=list(br.values()))
    km0 = rng.integers(4000, 185000, nc)
    ci = rng.integers(0, nc, n)
    lab = np.array([r2(ty[a][1] * pf.get(cb[c], 1) * rng.lognormal(0, 0.3)) for a, c in zip(k, ci)])
    par = np.array([r2(ty[a][2] * pf.get(cb[c], 1) * rng.lognormal(0, 0.4)) for a, c in zip(k, ci)])
    df = pd.DataFrame({"工单号": [f"GD{x:%m%d}{i:04d}" for i, x in enumerate(d, 1)], "进厂日期": [f"{x.year}/{x.month:02d}/{x.day:02d}" for x in d],
                       "车牌号": [plate[c] for c in ci], "品牌": cb[ci], "行驶里程(公里)": km0[ci] + ((d - pd.Timestamp("2024-02-01")).days.values * 38), "维修类型": k,
                       "技师": rng.choice(["老周", "小马", "阿强", "大刘"], n, p=[0.31, 0.22, 0.27, 0.2]), "工时费": lab, "配件费": par, "总金额": (lab + par).round(2),
                       "是否保险理赔": np.where((k == "钣金喷漆") & (rng.random(n) < 0.6), "是", "否"),
                       "客户评分": pd.array(np.clip(np.round(rng.normal(4.4, 0.7, n)), 1, 5).astype(int), dtype="Int64")})
    df.loc[rng.random(n) < 0.35, "客户评分"] = pd.NA
    df.to_csv(path("维修工单.csv"), index=False)
    df = pd.read_csv(path("维修工单.csv"))
    D = pd.to_datetime(df["进厂日期"]); m = D.dt.month; A = df["总金额"]
    assert D.max() == pd.Timestamp("2024-09-25")
    t = Table("garage", "维修工单.csv")
    t.q("店里总共收了多少钱？", [A.sum()])
    t.q("上周的总金额是多少", [A[(D >= "2024-09-16") & (D <= "2024-09-22")].sum()])
    t.groups("不同维修类型分别有多少单？", df.groupby("维修类型").size())
    t.top("哪个技师做的工时费最高", df.groupby("技师")["工时费"].sum())
    t.q("宝马车的平均每单总金额", [A[df["品牌"] == "宝马"].mean()])
    t.q("奥迪呢", [A[df["品牌"] == "奥迪"].mean()], earlier=["宝马车的平均每单总金额"])
    mm = A.groupby(m).sum()
    up = [x for x in range(4, 9) if mm[x] / mm[x - 1] - 1 > 0.03][-1]
    t.q(f"{up}月总金额环比增长率是多少？", [Pct(mm[up] / mm[up - 1] - 1)])
    t.trend("麻烦按月统计一下营业额，总金额那一列", mm)
    t.q("保养的单子占多少比例？", [Pct((df["维修类型"] == "常规保养").mean())])
    t.q("行驶里程超过10万公里的工单有多少单？", [(df["行驶里程(公里)"] > 100000).sum()])
    b = df.loc[A.idxmax()]; assert (A == A.max()).sum() == 1
    t.q("最贵的一单是哪个工单号，花了多少钱？", [b["总金额"]], [b["工单号"]])
    t.groups("总金额排名前三的品牌", df.groupby("品牌")["总金额"].sum(), 3)
    t.q("一共服务过多少辆不同的车", [df["车牌号"].nunique()])
    t.q("二季度保险理赔的钣金喷漆有多少单？", [((df["是否保险理赔"] == "是") & (df["维修类型"] == "钣金喷漆") & m.between(4, 6)).sum()])
    t.q("有多少单没有客户评分？", [df["客户评分"].isna().sum()])
    t.q("工时费和配件费的相关系数", [df["工时费"].corr(df["配件费"])], tol=0.02)
    t.no("我们店的净利润是多少？")
    t.no("要不要把保养价格提高10%？")
    t.no("附近其他修理厂的生意怎么样？")


# ---------------------------------------------------------------- factory (xlsx)
def factory():
    rng = np.random.default_rng(304)
    ln = {"Line A": (1180, 0.021, 24), "Line B": (980, 0.034, 38), "Line C": (1310, 0.016, 19)}
    ops = {"Day": ["Marek", "Ilona", "Piotr"], "Night": ["Sven", "Dana", "Tomas"]}
    rows = []
    for d in pd.date_range("2024-01-01", "2024-12-31"):
        for i, (l, (u, sc, dt)) in enumerate(ln.items()):
            for s in ("Day", "Night"):
                down = int(rng.gamma(1.1, dt * (1.25 if s == "Night" else 0.9)))
                un = int((u * (1 + 0.006 * (d.month - 1)) * (0.95 if s == "Night" else 1) - down * 1.1) * rng.normal(1, 0.03))
                scr = int(rng.poisson(un * sc))
                rows.append((d, s, l, ["Bracket", "Housing", "Valve"][(i + (d.day_of_year // 7)) % 3], ops[s][int(rng.integers(3))], un, scr, down, r2(un * 0.42 * rng.normal(1, 0.04) + 60)))
    df = pd.DataFrame(rows, columns=["Production Date", "Shift", "Line", "Product", "Operator", "Units Produced", "Scrap Units", "Downtime (min)", "Energy (kWh)"])
    df.loc[rng.random(len(df)) < 0.03, "Energy (kWh)"] = np.nan
    with pd.ExcelWriter(path("Production Log 2024.xlsx"), datetime_format="yyyy-mm-dd") as w:
        df.to_excel(w, index=False, sheet_name="Log")
    df = pd.read_excel(path("Production Log 2024.xlsx"))
    print("factory", len(df))
    D = df["Production Date"]; m = D.dt.month; U = df["Units Produced"]; W = df["Downtime (min)"]
    mu = U.groupby(m).sum()
    t = Table("factory", "Production Log 2024.xlsx")
    t.q("How many units did we produce in 2024?", [U.sum()])
    t.groups("Scrap units by line", df.groupby("Line")["Scrap Units"].sum())
    t.groups("by shift instead", df.groupby("Shift")["Scrap Units"].sum(), earlier=["Scrap units by line"])
    t.top("Which line has the most downtime?", df.groupby("Line")["Downtime (min)"].sum())
    t.q("What's the average downtime on Line B, in minutes?", [W[df.Line == "Line B"].mean()])
    t.trend("Quarterly production volume (units produced)", U.groupby(D.dt.quarter).sum())
    g = U[m > 6].sum() / U[m <= 6].sum() - 1
    assert g > 0.02, g
    t.q("How many percent more units were produced in the second half of 2024 than in the first half?", [Pct(g)])
    t.top("Which operator produced the most units?", df.groupby("Operator")["Units Produced"].sum())
    t.q("What share of all units produced were valves?", [Pct(U[df.Product == "Valve"].sum() / U.sum())])
    t.q("How many entries for Line C show more than 60 minutes of downtime?", [((W > 60) & (df.Line == "Line C")).sum()])
    t.q("Scrap units on Line A in November?", [df.loc[(df.Line == "Line A") & (m == 11), "Scrap Units"].sum()])
    t.q("How strongly do units produced and energy correlate?", [U.corr(df["Energy (kWh)"])], tol=0.01)
    t.q("How many records are missing the energy reading?", [df["Energy (kWh)"].isna().sum()])
    t.q("90th percentile of downtime in minutes", [W.quantile(0.9)], tol=0.02)
    t.trend("Show the 3-month moving average of units produced", mu.rolling(3).mean().dropna())
    x = np.arange(12)
    f = np.polyval(np.polyfit(x, mu.values, 1), 12)
    t.q("Please forecast the units produced for January 2025", [f], tol=0.07)
    t.no("What was the root cause of the downtime on Line B?")
    t.no("How much did the scrap cost us in euros?")
    t.no("Which machine should we replace first?")


# ---------------------------------------------------------------- hotel
def hotel():
    rng = np.random.default_rng(305)
    n = 1460
    ci = dates(rng, "2023-05-01", "2024-10-09", n, lambda x: {7: 1.6, 8: 1.7, 6: 1.3, 12: 1.2, 1: 0.6, 2: 0.6}.get(x.month, 1) * (1.15 if x.year == 2024 else 1))
    lead = rng.gamma(1.2, 25, n).astype(int) + 1
    rt = rng.choice(["Standard", "Superior", "Family Room", "Suite"], n, p=[0.46, 0.29, 0.17, 0.08])
    rate = np.array([{"Standard": 92, "Superior": 128, "Family Room": 156, "Suite": 245}[x] for x in rt]) * np.where(ci.month.isin([6, 7, 8]), 1.3, 1) * rng.normal(1, 0.08, n)
    rate = rate.round(0)
    nt = rng.choice([1, 2, 3, 4, 5, 7, 10], n, p=[0.25, 0.3, 0.2, 0.1, 0.06, 0.07, 0.02])
    src = rng.choice(["Booking.com", "Expedia", "Website", "Phone", "Travel Agent"], n, p=[0.43, 0.16, 0.25, 0.08, 0.08])
    df = pd.DataFrame({"Booking Ref": [f"HB{61000 + i}" for i in range(n)], "Check-in Date": ci.strftime("%m/%d/%Y"),
                       "Nights": nt, "Room Type": rt, "Source": src,
                       "Guest Country": rng.choice(["Germany", "Austria", "Italy", "Netherlands", "UK", "USA", None], n, p=[0.34, 0.2, 0.13, 0.11, 0.1, 0.07, 0.05]),
                       "Guests": rng.choice([1, 2, 3, 4], n, p=[0.22, 0.52, 0.14, 0.12]), "Lead Time (days)": lead, "Rate per Night (EUR)": rate,
                       "Total (EUR)": (rate * nt).round(2), "Breakfast": np.where(rng.random(n) < 0.61, "Yes", "No"),
                       "Cancelled": np.where(rng.random(n) < np.array([{"Booking.com": 0.21, "Expedia": 0.18, "Website": 0.09, "Phone": 0.05, "Travel Agent": 0.11}[x] for x in src]), "Yes", "No")})
    df.to_csv(path("hotel_bookings.csv"), index=False)
    df = pd.read_csv(path("hotel_bookings.csv"))
    D = pd.to_datetime(df["Check-in Date"], format="%m/%d/%Y"); ym = D.dt.to_period("M"); T = df["Total (EUR)"]; ok = df["Cancelled"] == "No"
    t = Table("hotel", "hotel_bookings.csv")
    t.q("What is our total booking value without cancelled bookings?", [T[ok].sum()])
    t.q("cancellation rate overall?", [Pct((~ok).mean())])
    t.top("Which source has the highest cancellation rate?", (~ok).groupby(df["Source"]).mean(), pct=True)
    t.groups("Number of bookings per room type", df.groupby("Room Type").size())
    t.q("How many nights on average do guests from Italy book?", [df.loc[df["Guest Country"] == "Italy", "Nights"].mean()])
    t.q("And guests from the UK?", [df.loc[df["Guest Country"] == "UK", "Nights"].mean()], earlier=["How many nights on average do guests from Italy book?"])
    t.q("How many bookings had their check-in in July 2024?", [(ym == "2024-07").sum()])
    a, b = T[ym == "2024-08"].sum(), T[ym == "2023-08"].sum()
    assert a / b - 1 > 0.02, a / b
    t.q("What's the year-on-year growth of total EUR for August 2024?", [Pct(a / b - 1)])
    t.trend("I'd like to see total EUR by check-in month for 2024", T[D.dt.year == 2024].groupby(ym[D.dt.year == 2024]).sum())
    t.q("Average rate per night for suites in 2024", [df.loc[(df["Room Type"] == "Suite") & (D.dt.year == 2024), "Rate per Night (EUR)"].mean()])
    t.q("What percentage of bookings include breakfast?", [Pct((df.Breakfast == "Yes").mean())])
    t.q("Median lead time in days?", [df["Lead Time (days)"].median()])
    t.groups("top 3 guest countries by number of nights", df.groupby("Guest Country")["Nights"].sum(), 3)
    t.q("For how many bookings is the guest country missing?", [df["Guest Country"].isna().sum()])
    t.q("How many bookings stay 7 nights or longer?", [(df["Nights"] >= 7).sum()])
    t.q("What share of the total booking value comes through Booking.com?", [Pct(T[df.Source == "Booking.com"].sum() / T.sum())])
    t.no("What was our occupancy rate in August?")
    t.no("Why do Booking.com guests cancel so often?")
    t.no("Which other hotels in town are cheaper than us?")


# ---------------------------------------------------------------- purchasing (two files)
def purchasing():
    rng = np.random.default_rng(306)
    nv = 205
    v1 = ["Alder", "Birch", "Cedar", "Dover", "Elgin", "Forth", "Garnet", "Halden", "Inver", "Jarrow", "Kelso", "Lorne", "Morven", "Nairn", "Orkney", "Perth", "Rowan", "Selkirk", "Tyne", "Wick"]
    v2 = ["Steel", "Packaging", "Electric", "Supplies", "Chemicals", "Tools", "Plastics", "Paper", "Safety", "Fasteners", "Logistics"]
    vn = rng.choice([f"{a} {b}" for a in v1 for b in v2], nv, replace=False)
    ven = pd.DataFrame({"vendor_id": [f"V{501 + i}" for i in range(nv)], "vendor_name": vn,
                        "vendor_country": rng.choice(["UK", "Poland", "China", "Germany", "Turkey"], nv, p=[0.38, 0.19, 0.2, 0.15, 0.08]),
                        "payment_terms": rng.choice(["30 days", "45 days", "60 days"], nv, p=[0.55, 0.25, 0.2]),
                        "certified": np.where(rng.random(nv) < 0.63, "yes", "no")})
    n = 1520
    w = rng.gamma(0.6, 1, nv) + 0.05
    vi = rng.choice(nv, n, p=w / w.sum())
    d = dates(rng, "2023-01-04", "2024-05-16", n, lambda x: (0.05 if x.weekday() > 4 else 1) * (1 + 0.025 * ((x.year - 2023) * 12 + x.month)))
    cat = rng.choice(["Raw Material", "Packaging", "MRO", "IT", "Office"], n, p=[0.36, 0.24, 0.22, 0.06, 0.12])
    q = rng.integers(1, 60, n) * 5
    uc = np.array([r2({"Raw Material": 14, "Packaging": 2.4, "MRO": 8.5, "IT": 41, "Office": 3.1}[x] * rng.lognormal(0, 0.5)) for x in cat])
    rec = d + pd.to_timedelta(rng.integers(4, 45, n), unit="D")
    df = pd.DataFrame({"po_number": [f"PO-{x:%y}-{i:05d}" for i, x in enumerate(d, 1)], "po_date": d.strftime("%Y-%m-%d"), "vendor_id": ven["vendor_id"].values[vi],
                       "category": cat, "buyer": rng.choice(["Karen", "Imran", "Joanna"], n, p=[0.42, 0.33, 0.25]), "qty": q, "unit_cost_gbp": uc, "total_cost_gbp": (q * uc).round(2),
                       "received_date": [x.strftime("%Y-%m-%d") if x <= pd.Timestamp("2024-05-16") else None for x in rec],
                       "late_delivery": np.where(rng.random(n) < np.where(ven["certified"].values[vi] == "yes", 0.1, 0.19), "yes", "no")})
    df["vendor_invoice_no"] = [f"{rng.integers(100000, 999999)}" for _ in range(n)]
    df = df.drop_duplicates("vendor_invoice_no").reset_index(drop=True)
    for a, b in ((120, 121), (480, 483), (700, 702), (905, 911), (1201, 1202), (1310, 1333), (1400, 1401), (1444, 1450), (200, 777)):
        df.loc[b, "vendor_invoice_no"] = df.loc[a, "vendor_invoice_no"]
    df.loc[rng.random(len(df)) < 0.04, "buyer"] = None
    df.to_csv(path("purchase_orders.csv"), index=False)
    ven.to_csv(path("vendors.csv"), index=False)
    df = pd.read_csv(path("purchase_orders.csv")); ven = pd.read_csv(path("vendors.csv"))
    print("po", len(df))
    j = df.merge(ven, on="vendor_id"); assert len(j) == len(df)
    D = pd.to_datetime(df["po_date"]); qd = D.dt.to_period("Q"); ym = D.dt.to_period("M"); C = df["total_cost_gbp"]
    both = ["purchase_orders.csv", "vendors.csv"]
    assert D.max() >= pd.Timestamp("2024-05-13")
    t = Table("purchasing", "purchase_orders.csv")
    t.q("What did we spend on purchases in 2023 in total?", [C[D.dt.year == 2023].sum()])
    t.groups("Purchase cost broken down by category", df.groupby("category")["total_cost_gbp"].sum())
    t.q("How much did we spend in April 2024?", [C[ym == "2024-04"].sum()])
    t.q("And in March 2024?", [C[ym == "2024-03"].sum()], earlier=["How much did we spend in April 2024?"])
    g = C[qd == "2024Q1"].sum() / C[qd == "2023Q1"].sum() - 1
    assert g > 0.02, g
    t.q("How much did total cost grow in Q1 2024 versus Q1 2023, in percent?", [Pct(g)])
    t.top("Which buyer placed the most purchase orders?", df.groupby("buyer").size())
    t.q("What's the average value of an IT purchase order?", [C[df.category == "IT"].mean()])
    t.q("What share of POs were delivered late?", [Pct((df.late_delivery == "yes").mean())])
    t.q("how many POs have not been received yet (no received date)?", [df["received_date"].isna().sum()])
    t.groups("Total cost by vendor country", j.groupby("vendor_country")["total_cost_gbp"].sum(), files=both)
    t.groups("Who are our five biggest vendors by total cost? Vendor names please", j.groupby("vendor_name")["total_cost_gbp"].sum(), 5, files=both)
    t.q("How much of our spend went to certified vendors, as a percentage of total cost?", [Pct(j.loc[j.certified == "yes", "total_cost_gbp"].sum() / C.sum())], files=both)
    vc = df["vendor_invoice_no"].value_counts()
    assert (vc > 1).sum() == 9 and vc.max() == 2
    t.q("How many vendor invoice numbers appear more than once?", [9])
    t.q("year to date total cost", [C[D.dt.year == 2024].sum()])
    t.q("Total cost of POs between 5,000 and 10,000 GBP each", [C[C.between(5000, 10000)].sum()])
    t.trend("Quarterly spend since the start of 2023", C.groupby(qd).sum())
    assert not C.isin([5000, 10000]).any()
    vs = df.groupby("vendor_id")["total_cost_gbp"].sum().sort_values(ascending=False).cumsum() / C.sum()
    t.q("How many vendors make up 80% of our total cost?", [int((vs < 0.8).sum() + 1)], tol=0.012)
    t.no("How much could we save by negotiating with our top vendors?")
    t.no("What is the current steel price on the world market?")
    t.no("Draft an email to Alder Steel about their late deliveries")


school(); property_(); garage(); factory(); hotel(); purchasing()
finish()
