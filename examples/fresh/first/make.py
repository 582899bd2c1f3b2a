"""Makes the tables and questions of this set, by an author who knew nothing of the rules; figures by pandas."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from asking import Pct, Table, dates, finish, path


# ---------------------------------------------------------------- 食品批发 销售流水
def wholesale():
    rng = np.random.default_rng(101)
    n = 2200
    items = {"调味品": [("生抽1.9L", 22.8), ("老抽500ml", 9.6), ("蚝油700g", 11.5), ("鸡精1kg", 26.0)],
             "粮油": [("五常大米10kg", 68.0), ("菜籽油5L", 75.0), ("花生油5L", 129.0), ("面粉25kg", 92.0)],
             "酒水": [("纯生啤酒箱装", 62.0), ("白酒500ml*6", 348.0), ("黄酒箱装", 115.0)],
             "休闲零食": [("坚果礼盒", 88.0), ("薯片整箱", 54.0), ("饼干整箱", 46.0)],
             "冷冻食品": [("速冻水饺10袋", 98.0), ("鸡翅中5kg", 165.0)]}
    flat = [(c, i, p) for c, l in items.items() for i, p in l]
    w = np.array([8, 6, 7, 5, 9, 8, 6, 6, 9, 4, 3, 5, 6, 4, 6, 5], float)
    pick = rng.choice(len(flat), n, p=w / w.sum())
    region_of = {"华东": 0.36, "华南": 0.25, "华北": 0.16, "西南": 0.13, "华中": 0.10}
    regs = list(region_of)
    cust, creg = [], []
    names = ["鑫源", "百家", "惠民", "佳乐", "福满", "永兴", "好邻居", "金穗", "天天", "嘉和", "宏达", "乐购", "同福", "瑞丰", "万家", "顺达"]
    kinds = ["超市", "商贸", "餐饮管理", "食品店", "便利连锁"]
    for a in names:
        for b in kinds:
            cust.append(a + b)
            creg.append(rng.choice(regs, p=list(region_of.values())))
    cw = rng.gamma(1.2, 1, len(cust)) + 0.1
    ci = rng.choice(len(cust), n, p=cw / cw.sum())
    d = dates(rng, "2023-01-03", "2024-11-20", n, lambda x: (1 + 0.25 * (x.year == 2024)) * (1.5 if x.month in (1, 9, 12) else 1) * (0.4 if x.weekday() == 6 else 1))
    sales = {"华东": ["王海涛", "李敏"], "华南": ["陈志强", "黄丽"], "华北": ["赵刚"], "西南": ["周倩"], "华中": ["孙磊"]}
    df = pd.DataFrame({"单据日期": d.strftime("%Y-%m-%d"),
                       "单号": [f"XS{x:%y%m}{i:05d}" for i, x in enumerate(d, 1)],
                       "客户名称": [cust[i] for i in ci], "业务员": [rng.choice(sales[creg[i]]) for i in ci],
                       "地区": [creg[i] for i in ci],
                       "品类": [flat[i][0] for i in pick], "商品名称": [flat[i][1] for i in pick],
                       "数量": np.maximum(1, rng.gamma(2.0, 12, n).round()).astype(int)})
    df["单价"] = [round(flat[i][2] * rng.choice([1, 1, 1, 0.95, 0.9]), 2) for i in pick]
    df["金额"] = (df["数量"] * df["单价"]).round(2)
    df["是否回款"] = np.where(rng.random(n) < np.where(d > "2024-09-01", 0.55, 0.93), "是", "否")
    df["备注"] = rng.choice([None, None, None, None, "赠品另发", "送货上门", "客户自提"], n)
    df.to_csv(path("销售流水.csv"), index=False, encoding="utf-8-sig")
    df = pd.read_csv(path("销售流水.csv"), encoding="utf-8-sig")
    D = pd.to_datetime(df["单据日期"]); A = df["金额"]; y = D.dt.year; m = D.dt.month
    assert D.max() == pd.Timestamp("2024-11-20")
    t = Table("wholesale", "销售流水.csv")
    t.q("到目前为止总销售额是多少？", [A.sum()])
    t.groups("各地区的销售额分别是多少", df.groupby("地区")["金额"].sum())
    t.top("哪个业务员的销售额最高？", df.groupby("业务员")["金额"].sum())
    t.groups("销售额排前5的商品有哪些，各卖了多少钱", df.groupby("商品名称")["金额"].sum(), 5)
    hd = A[(df["地区"] == "华东") & (y == 2024)].sum()
    t.q("华东2024年一共卖了多少钱？", [hd])
    t.q("那华南呢？", [A[(df["地区"] == "华南") & (y == 2024)].sum()], earlier=["华东2024年一共卖了多少钱？"])
    t.q("上个月的销售额", [A[(y == 2024) & (m == 10)].sum()])
    q3 = A[(y == 2024) & (D.dt.quarter == 3)].sum() / A[(y == 2023) & (D.dt.quarter == 3)].sum() - 1
    assert q3 > 0.02, q3
    t.q("2024年三季度销售额同比增长多少", [Pct(q3)])
    t.q("酒水占总销售额的比例是多少？", [Pct(A[df["品类"] == "酒水"].sum() / A.sum())])
    t.trend("帮我看下2024年每个月的销售额走势", A[y == 2024].groupby(m).sum())
    t.q("还没回款的金额一共有多少？", [A[df["是否回款"] == "否"].sum()])
    t.q("平均每单金额多少", [A.mean()])
    t.q("有多少个客户买过调味品？", [df.loc[df["品类"] == "调味品", "客户名称"].nunique()])
    big = df.loc[A.idxmax()]; assert (A == A.max()).sum() == 1
    t.q("金额最大的一单是哪个单号，多少钱？", [big["金额"]], [big["单号"]])
    t.q("除了酒水以外，2023年其他品类合计卖了多少钱", [A[(df["品类"] != "酒水") & (y == 2023)].sum()])
    c = df.groupby("客户名称")["金额"].sum().sort_values(ascending=False)
    assert len(c) == 80
    t.q("前20%的大客户贡献了多少比例的销售额？", [Pct(c.head(16).sum() / c.sum())])
    t.no("西南为什么卖得这么差？")
    t.no("毛利率最高的是哪个商品？")
    t.no("帮我给没回款的客户写一封催款函")


# ---------------------------------------------------------------- 员工花名册
def staff():
    rng = np.random.default_rng(102)
    n = 386
    dept = {"研发部": (0.27, 21500), "销售部": (0.22, 13800), "生产部": (0.24, 9200), "客服部": (0.10, 7600), "财务部": (0.06, 12600), "人力资源部": (0.05, 11900), "市场部": (0.06, 14900)}
    dn = rng.choice(list(dept), n, p=[v[0] for v in dept.values()])
    sur = list("王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕")
    g1 = list("伟芳娜敏静强磊军洋艳勇杰涛明超霞平刚桂文辉玲华红健林鑫波斌宇浩凯丽琳雪倩楠晨")
    seen, names = set(), []
    while len(names) < n:
        x = rng.choice(sur) + "".join(rng.choice(g1, 2, replace=False))
        if x not in seen:
            seen.add(x); names.append(x)
    d = dates(rng, "2015-03-02", "2024-08-26", n, lambda x: 1 + (x.year - 2015) * 0.35)
    lvl = rng.choice(["P4", "P5", "P6", "P7", "P8"], n, p=[0.28, 0.33, 0.22, 0.12, 0.05])
    f = {"P4": 0.75, "P5": 0.95, "P6": 1.2, "P7": 1.55, "P8": 2.1}
    perf = np.clip(rng.normal(78, 8, n) + [(f[x] - 1) * 10 for x in lvl], 50, 99).round(1)
    pay = np.array([dept[a][1] * f[b] for a, b in zip(dn, lvl)]) * rng.normal(1, 0.07, n)
    df = pd.DataFrame({"工号": [f"E{1000 + i}" for i in range(n)], "姓名": names, "部门": dn, "职级": lvl,
                       "性别": np.where(rng.random(n) < 0.43, "女", "男"),
                       "学历": rng.choice(["大专", "本科", "硕士", "博士", "高中"], n, p=[0.25, 0.47, 0.19, 0.03, 0.06]),
                       "工作城市": rng.choice(["上海", "苏州", "成都", "武汉"], n, p=[0.42, 0.28, 0.18, 0.12]),
                       "入职日期": d, "月薪（元）": (pay / 100).round().astype(int) * 100,
                       "绩效分": perf, "是否转正": np.where((d > "2024-05-20"), "否", "是")})
    df.loc[df["月薪（元）"] == 20000, "月薪（元）"] = 20200
    df.loc[rng.random(n) < 0.06, "绩效分"] = np.nan
    df.loc[rng.random(n) < 0.02, "学历"] = None
    df = df.sample(frac=1, random_state=5).reset_index(drop=True)
    with pd.ExcelWriter(path("员工花名册.xlsx"), datetime_format="yyyy-mm-dd") as w:
        df.to_excel(w, index=False, sheet_name="花名册")
    df = pd.read_excel(path("员工花名册.xlsx"))
    P = df["月薪（元）"]; D = df["入职日期"]
    t = Table("staff", "员工花名册.xlsx")
    t.groups("各部门各有多少人？", df.groupby("部门").size())
    t.top("平均月薪最高的是哪个部门", df.groupby("部门")["月薪（元）"].mean())
    t.q("研发部的平均月薪是多少？", [P[df["部门"] == "研发部"].mean()])
    t.q("销售部呢？", [P[df["部门"] == "销售部"].mean()], earlier=["研发部的平均月薪是多少？"])
    t.q("全公司月薪中位数是多少", [P.median()])
    t.q("公司每个月工资总共要发多少钱？", [P.sum()])
    t.q("2023年入职了多少人", [(D.dt.year == 2023).sum()])
    t.trend("请按年份统计一下每年入职的人数", df.groupby(D.dt.year).size())
    assert not (P == 20000).any()
    t.q("月薪超过2万的有多少人？", [(P > 20000).sum()])
    t.q("女员工占比", [Pct((df["性别"] == "女").mean())])
    t.q("上海员工的平均绩效分是多少？", [df.loc[df["工作城市"] == "上海", "绩效分"].mean()])
    b = df.loc[P.idxmax()]; assert (P == P.max()).sum() == 1
    t.q("谁的月薪最高？是多少？", [b["月薪（元）"]], [b["姓名"]])
    t.q("有几个人没有绩效分？", [df["绩效分"].isna().sum()])
    t.q("月薪和绩效分的相关系数是多少", [df[["月薪（元）", "绩效分"]].corr().iloc[0, 1]], tol=0.02)
    t.q("成都还没转正的员工有多少人", [((df["工作城市"] == "成都") & (df["是否转正"] == "否")).sum()])
    t.no("今年的离职率是多少？")
    t.no("你觉得下半年应该给谁升职？")
    t.no("我们的工资和同行业平均水平比怎么样")


# ---------------------------------------------------------------- 物流运单
def freight():
    rng = np.random.default_rng(103)
    n = 1640
    car = {"顺丰": (0.22, 1.5, 34, 0.04), "德邦": (0.27, 1.0, 56, 0.11), "安能": (0.24, 0.82, 68, 0.17), "中通快运": (0.17, 0.88, 61, 0.13), "跨越速运": (0.10, 1.9, 28, 0.06)}
    c = rng.choice(list(car), n, p=[v[0] for v in car.values()])
    prov = ["广东", "浙江", "江苏", "山东", "四川", "湖北", "河南", "福建", "北京", "上海", "陕西"]
    dist = dict(zip(prov, [1.25, 0.7, 0.6, 0.9, 1.5, 1.0, 1.0, 0.95, 1.2, 0.6, 1.35]))
    pv = rng.choice(prov, n, p=np.array([17, 15, 13, 9, 8, 7, 7, 7, 6, 6, 5]) / 100)
    d = dates(rng, "2024-01-02", "2024-12-12", n, lambda x: (1.6 if x.month in (11,) else 0.5 if x.month == 2 else 1) * (0.3 if x.weekday() == 6 else 1))
    wt = (rng.gamma(1.8, 60, n) + 2).round(1)
    wt[np.isin(wt, [200.0, 300.0])] += 0.3
    fee = (25 + wt * 1.15 * np.array([dist[p] for p in pv]) * np.array([car[x][1] for x in c]) * rng.normal(1, 0.08, n)).round(2)
    hrs = np.maximum(8, np.array([car[x][2] for x in c]) * np.array([dist[p] ** 0.5 for p in pv]) * rng.normal(1, 0.18, n)).round(1)
    df = pd.DataFrame({"运单号": [f"YD{x:%Y%m%d}{rng.integers(100, 999)}{i % 10}" for i, x in enumerate(d)],
                       "发货日期": [f"{x.year}/{x.month}/{x.day}" for x in d], "承运商": c,
                       "始发仓": rng.choice(["苏州仓", "东莞仓", "天津仓"], n, p=[0.5, 0.32, 0.18]), "目的省份": pv,
                       "件数": rng.integers(1, 25, n), "重量(kg)": wt.round(1), "运费(元)": fee, "时效(小时)": hrs,
                       "是否延误": np.where(rng.random(n) < np.array([car[x][3] for x in c]), "是", "否")})
    sign = d + pd.to_timedelta(np.ceil(hrs / 24).astype(int), unit="D")
    df["签收日期"] = [f"{x.year}/{x.month}/{x.day}" for x in sign]
    late = (sign > pd.Timestamp("2024-12-12")) | (rng.random(n) < 0.01)
    df.loc[late, "签收日期"] = None
    df.loc[late, "时效(小时)"] = np.nan
    for i, v in ((377, 9860.0), (1102, 12480.0)):
        df.loc[i, "运费(元)"] = v
    df = df.drop_duplicates("运单号").reset_index(drop=True)
    df.to_csv(path("运单明细2024.csv"), index=False)
    df = pd.read_csv(path("运单明细2024.csv"))
    D = pd.to_datetime(df["发货日期"], format="%Y/%m/%d"); F = df["运费(元)"]; m = D.dt.month
    late = df["是否延误"] == "是"
    t = Table("freight", "运单明细2024.csv")
    t.q("一共发了多少票货？", [len(df)])
    t.groups("每家承运商的运费合计是多少", df.groupby("承运商")["运费(元)"].sum())
    t.trend("改成按月份统计", F.groupby(m).sum(), earlier=["每家承运商的运费合计是多少"])
    t.top("哪家承运商的延误率最高？", late.groupby(df["承运商"]).mean(), pct=True)
    t.q("德邦平均时效是多少小时", [df.loc[df["承运商"] == "德邦", "时效(小时)"].mean()])
    t.q("发到广东的货总重量是多少公斤？", [df.loc[df["目的省份"] == "广东", "重量(kg)"].sum()])
    g = F[m == 11].sum() / F[m == 10].sum() - 1
    assert g > 0.03
    t.q("11月份的运费环比涨了百分之多少？", [Pct(g)])
    t.trend("按季度看一下发货票数", df.groupby(D.dt.quarter).size())
    o = F.nlargest(2); 
    t.q("运费里有没有异常的大额？帮我找出来", list(o.values), report=True)
    t.groups("发货票数最多的三个省份", df.groupby("目的省份").size(), 3)
    t.q("还没有签收日期的运单有几票", [df["签收日期"].isna().sum()])
    t.q("苏州仓发往浙江的运费总额", [F[(df["始发仓"] == "苏州仓") & (df["目的省份"] == "浙江")].sum()])
    t.q("顺丰的运费占全部运费多少？", [Pct(F[df["承运商"] == "顺丰"].sum() / F.sum())])
    t.q("下半年延误了多少票？", [(late & (m >= 7)).sum()])
    t.q("重量在200到300公斤之间的运单有多少票？", [df["重量(kg)"].between(200, 300).sum()])
    assert not df["重量(kg)"].isin([200.0, 300.0]).any()
    t.no("客户投诉最多的是哪家承运商？")
    t.no("明年该不该继续跟安能签合同？")
    t.no("油价上涨对我们运费影响有多大？")


# ---------------------------------------------------------------- support desk
def tickets():
    rng = np.random.default_rng(104)
    n = 2640
    ag = {"Priya": 4.42, "Tom": 4.05, "Lucia": 4.2, "Mark": 3.62, "Aisha": 4.3, "Jonas": 3.9, "Wen": 4.12}
    aw = np.array([18, 16, 13, 15, 17, 10, 11]) / 100
    d = dates(rng, "2023-07-01", "2024-09-17", n, lambda x: (1 + 0.03 * ((x.year - 2023) * 12 + x.month - 7)) * (0.35 if x.weekday() > 4 else 1))
    d = d + pd.to_timedelta(rng.integers(7 * 60, 20 * 60, n), unit="min")
    d = d.sort_values()
    pr = rng.choice(["low", "normal", "high", "urgent"], n, p=[0.24, 0.48, 0.2, 0.08])
    cat = rng.choice(["billing", "login", "bug", "how-to", "feature request", "shipping"], n, p=[0.22, 0.18, 0.2, 0.19, 0.08, 0.13])
    a = rng.choice(list(ag), n, p=aw)
    fr = rng.gamma(1.5, 1, n) * np.array([{"low": 160, "normal": 95, "high": 40, "urgent": 14}[x] for x in pr])
    rh = rng.gamma(1.3, 1, n) * np.array([{"billing": 14, "login": 5, "bug": 41, "how-to": 8, "feature request": 58, "shipping": 22}[x] for x in cat])
    st = np.where((d > "2024-09-10") & (rng.random(n) < 0.6), "open", np.where(rng.random(n) < 0.012, "pending", "closed"))
    df = pd.DataFrame({"ticket_id": np.arange(50211, 50211 + n), "created_at": d.strftime("%Y-%m-%d %H:%M"),
                       "channel": rng.choice(["email", "chat", "phone", "web form"], n, p=[0.39, 0.33, 0.12, 0.16]),
                       "category": cat, "priority": pr, "agent": a, "status": st,
                       "first_response_min": np.maximum(1, fr.round()).astype(int), "resolution_hours": rh.round(1) + 0.2,
                       "csat": [int(np.clip(round(rng.normal(ag[x], 0.9)), 1, 5)) for x in a],
                       "reopened": np.where(rng.random(n) < 0.083, "yes", "no")})
    df["csat"] = df["csat"].astype("Int64")
    df.loc[(st != "closed") | (rng.random(n) < 0.46), "csat"] = pd.NA
    df.loc[st != "closed", "resolution_hours"] = np.nan
    df["resolution_hours"] = df["resolution_hours"].round(1)
    df.to_csv(path("support_tickets.csv"), index=False)
    df = pd.read_csv(path("support_tickets.csv"))
    D = pd.to_datetime(df["created_at"]); ym = D.dt.to_period("M"); qd = D.dt.to_period("Q")
    t = Table("tickets", "support_tickets.csv")
    t.groups("How many tickets came in through each channel?", df.groupby("channel").size())
    t.top("Which agent has the highest average CSAT?", df.groupby("agent")["csat"].mean())
    t.q("What's the average first response time for urgent tickets, in minutes?", [df.loc[df.priority == "urgent", "first_response_min"].mean()])
    t.q("and for low priority ones?", [df.loc[df.priority == "low", "first_response_min"].mean()],
        earlier=["What's the average first response time for urgent tickets, in minutes?"])
    t.q("median resolution hours", [df["resolution_hours"].median()])
    t.q("What percentage of tickets get reopened?", [Pct((df.reopened == "yes").mean())])
    t.trend("Show me the number of tickets per month", df.groupby(ym).size())
    t.q("How many tickets are still open right now?", [(df.status == "open").sum()])
    g = (qd == "2024Q2").sum() / (qd == "2024Q1").sum() - 1
    assert g > 0.02, g
    t.q("What was the growth in ticket volume from Q1 2024 to Q2 2024, in percent?", [Pct(g)])
    t.top("Which category takes the longest to resolve on average?", df.groupby("category")["resolution_hours"].mean())
    t.q("95th percentile of first_response_min please", [df["first_response_min"].quantile(0.95)], tol=0.006)
    t.q("How many billing tickets came in by email last month?", [((df.category == "billing") & (df.channel == "email") & (ym == "2024-08")).sum()])
    t.q("How many tickets have no CSAT score?", [df["csat"].isna().sum()])
    t.groups("Top 3 agents by number of tickets handled", df.groupby("agent").size(), 3)
    t.q("What's the average csat for chat tickets in 2024?", [df.loc[(df.channel == "chat") & (D.dt.year == 2024), "csat"].mean()])
    t.no("Why are customers of Mark less satisfied?")
    t.no("How much does each ticket cost us on average?")
    t.no("How many more agents should we hire for next year?")


# ---------------------------------------------------------------- SaaS billing (two files)
def saas():
    rng = np.random.default_rng(105)
    na = 230
    w1 = ["Blue", "North", "Bright", "Silver", "Iron", "Green", "Quick", "Lunar", "Solid", "Clear", "Red", "Nova", "Peak", "Urban", "Delta", "Amber"]
    w2 = ["Harbor", "Peak", "Labs", "Works", "Logic", "Foods", "Health", "Media", "Retail", "Systems", "Freight", "Studio", "Energy", "Partners", "Clinic"]
    comp = rng.choice([f"{a} {b}" for a in w1 for b in w2], na, replace=False)
    ctry = rng.choice(["United States", "United Kingdom", "Germany", "Canada", "Australia", "Netherlands"], na, p=[0.4, 0.19, 0.15, 0.11, 0.08, 0.07])
    ind = rng.choice(["Healthcare", "Retail", "Logistics", "Education", "Manufacturing"], na, p=[0.2, 0.27, 0.17, 0.12, 0.24])
    start = rng.choice(18, na, p=np.array([30] + [10] * 17) / 200)
    plan = rng.choice(["Starter", "Pro", "Enterprise"], na, p=[0.5, 0.37, 0.13])
    price = {"Starter": 12, "Pro": 25, "Enterprise": 42}
    months = pd.period_range("2023-01", "2024-06", freq="M")
    rows = []
    acc = [f"AC-{1001 + i}" for i in range(na)]
    for i in range(na):
        seats = int({"Starter": rng.integers(2, 12), "Pro": rng.integers(8, 50), "Enterprise": rng.integers(50, 220)}[plan[i]])
        day = int(rng.integers(1, 28))
        for k in range(start[i], 18):
            if rng.random() < 0.018:
                break
            if rng.random() < 0.12:
                seats += int(rng.integers(1, 1 + max(2, seats // 10)))
            disc = int(rng.choice([0, 0, 0, 5, 10, 15]))
            rows.append((months[k].to_timestamp() + pd.Timedelta(days=day - 1), acc[i], plan[i], seats, disc,
                         round(seats * price[plan[i]] * (1 - disc / 100), 2), "Yes" if rng.random() < (0.985 if k < 15 else 0.86) else "No"))
    df = pd.DataFrame(rows, columns=["Invoice Date", "Account ID", "Plan", "Seats", "Discount %", "Amount (USD)", "Paid"]).sort_values(["Invoice Date", "Account ID"], kind="stable").reset_index(drop=True)
    df.insert(0, "Invoice No", [f"INV-{20001 + i}" for i in range(len(df))])
    df["Invoice Date"] = df["Invoice Date"].dt.strftime("%Y-%m-%d")
    df.to_csv(path("invoices.csv"), index=False)
    acct = pd.DataFrame({"Account ID": acc, "Company": comp, "Country": ctry, "Industry": ind,
                         "Account Manager": rng.choice(["Nina Park", "Owen Blake", "Sara Lindt", "Dev Rao"], na, p=[0.3, 0.28, 0.22, 0.2])})
    acct.to_csv(path("accounts.csv"), index=False)
    df = pd.read_csv(path("invoices.csv")); acct = pd.read_csv(path("accounts.csv"))
    print("invoices", len(df))
    D = pd.to_datetime(df["Invoice Date"]); A = df["Amount (USD)"]; ym = D.dt.to_period("M"); y = D.dt.year
    j = df.merge(acct, on="Account ID"); assert len(j) == len(df)
    both = ["invoices.csv", "accounts.csv"]
    t = Table("saas", "invoices.csv")
    t.q("What is the total amount we have invoiced?", [A.sum()])
    t.groups("Break down invoiced amount by plan", df.groupby("Plan")["Amount (USD)"].sum())
    h = A[y == 2024].sum() / A[(y == 2023) & (D.dt.month <= 6)].sum() - 1
    t.q("By how many percent did the invoiced amount grow in the first half of 2024 compared to the first half of 2023?", [Pct(h)])
    t.q("What's the total value of unpaid invoices?", [A[df["Paid"] == "No"].sum()])
    t.q("How much did we bill in May 2024?", [A[ym == "2024-05"].sum()])
    t.groups("top 5 accounts by amount", df.groupby("Account ID")["Amount (USD)"].sum(), 5)
    t.q("What share of the billed amount comes from Enterprise?", [Pct(A[df["Plan"] == "Enterprise"].sum() / A.sum())])
    t.groups("Total invoiced amount per country?", j.groupby("Country")["Amount (USD)"].sum(), files=both)
    t.top("Which industry brings in the most billing?", j.groupby("Industry")["Amount (USD)"].sum(), files=both)
    t.q("How much did we invoice accounts in Germany in 2024?", [j.loc[(j["Country"] == "Germany") & (pd.to_datetime(j["Invoice Date"]).dt.year == 2024), "Amount (USD)"].sum()], files=both)
    t.q("What's the average number of seats per invoice on the Pro plan?", [df.loc[df["Plan"] == "Pro", "Seats"].mean()])
    t.q("How many different accounts were billed in June 2024?", [df.loc[ym == "2024-06", "Account ID"].nunique()])
    t.trend("Quarterly trend of invoiced amount", A.groupby(D.dt.to_period("Q")).sum())
    first = D.groupby(df["Account ID"]).min().dt.to_period("Q")
    t.q("How many accounts got their very first invoice in Q4 2023?", [(first == "2023Q4").sum()])
    t.q("How much have we billed year to date?", [A[y == 2024].sum()])
    t.no("What is our customer acquisition cost?")
    t.no("Why did the accounts that left us cancel?")
    t.no("How does our Pro price compare with competitors?")


# ---------------------------------------------------------------- restaurant group
def restaurant():
    rng = np.random.default_rng(106)
    out = {"Riverside": 1.25, "Old Town": 1.0, "Harbour": 1.1, "Station": 0.72}
    sv = {"Breakfast": (34, 11, 2.6), "Lunch": (62, 18, 5.2), "Dinner": (88, 31, 13.5)}
    hol = {"2024-01-01", "2024-03-29", "2024-04-01", "2024-05-06", "2024-05-27"}
    rows = []
    for d in pd.date_range("2024-01-01", "2024-06-30"):
        for o, f in out.items():
            for s, (c, fo, be) in sv.items():
                if o == "Station" and s == "Dinner" and d.weekday() == 6:
                    continue
                k = f * (1.38 if d.weekday() == 5 else 1.2 if d.weekday() == 4 else 1.1 if d.weekday() == 6 else 0.9) * (0.85 + 0.05 * d.month)
                cov = int(max(5, rng.normal(c * k, c * 0.13)))
                food = round(cov * fo * rng.normal(1, 0.07), 2)
                bev = round(cov * be * rng.normal(1, 0.12), 2)
                disc = round(food * rng.uniform(0.01, 0.08), 2) if rng.random() < 0.7 else None
                rows.append((d.strftime("%d-%b-%Y"), o, s, cov, f"{food:,.2f}", f"{bev:,.2f}", disc, round((food + bev) * rng.uniform(0.05, 0.11), 2), "Y" if d.strftime("%Y-%m-%d") in hol else "N"))
    df = pd.DataFrame(rows, columns=["Date", "Outlet", "Service", "Covers", "Food Sales ($)", "Beverage Sales ($)", "Discounts ($)", "Tips ($)", "Public Holiday"])
    df.to_csv(path("outlet_daily_sales.csv"), index=False)
    df = pd.read_csv(path("outlet_daily_sales.csv"), thousands=",")
    D = pd.to_datetime(df["Date"], format="%d-%b-%Y"); m = D.dt.month; F = df["Food Sales ($)"]; B = df["Beverage Sales ($)"]
    t = Table("restaurant", "outlet_daily_sales.csv")
    t.q("total food sales for all outlets", [F.sum()])
    t.top("Which outlet served the most covers?", df.groupby("Outlet")["Covers"].sum())
    t.groups("Can you give me beverage sales by service?", df.groupby("Service")["Beverage Sales ($)"].sum())
    t.q("On average how many covers does Harbour do per dinner service?", [df.loc[(df.Outlet == "Harbour") & (df.Service == "Dinner"), "Covers"].mean()])
    t.q("How much did Riverside take in food sales in March?", [F[(df.Outlet == "Riverside") & (m == 3)].sum()])
    t.q("what about April?", [F[(df.Outlet == "Riverside") & (m == 4)].sum()], earlier=["How much did Riverside take in food sales in March?"])
    t.trend("Food sales month by month", F.groupby(m).sum())
    g = F[m > 3].sum() / F[m <= 3].sum() - 1
    assert g > 0.02
    t.q("By what percentage did food sales grow from Q1 to Q2?", [Pct(g)])
    t.q("What percent of beverage sales is from dinner?", [Pct(B[df.Service == "Dinner"].sum() / B.sum())])
    t.q("How many covers in total did we serve on public holidays?", [df.loc[df["Public Holiday"] == "Y", "Covers"].sum()])
    t.q("correlation between covers and tips", [df["Covers"].corr(df["Tips ($)"])], tol=0.01)
    t.q("Total discounts given at Old Town in Q2", [df.loc[(df.Outlet == "Old Town") & (m > 3), "Discounts ($)"].sum()])
    t.q("How many times did a service have more than 120 covers?", [(df.Covers > 120).sum()])
    t.q("Compare Riverside and Station on beverage sales, please.", [B[df.Outlet == "Riverside"].sum(), B[df.Outlet == "Station"].sum()], report=True)
    t.top("Which outlet gets the lowest tips overall?", df.groupby("Outlet")["Tips ($)"].sum(), low=True)
    wd = df.groupby(D.dt.day_name().str[:3])["Covers"].sum()
    t.top("Which day of the week is the busiest by total covers?", wd)
    t.no("What's our food cost percentage?")
    t.no("Should we stop doing breakfast at Station?")
    t.no("Which dish sells best?")


wholesale(); staff(); freight(); tickets(); saas(); restaurant()
finish()
