"""Makes the tables and questions of this set, by an author who knew nothing of the rules; figures by pandas."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from asking import Pct, Table, dates, finish, path


def r2(x):
    return float(np.round(x, 2))


# ---------------------------------------------------------------- 五金仓库 库存
def stock():
    rng = np.random.default_rng(201)
    base = {"紧固件": ["内六角螺栓", "膨胀螺丝", "自攻钉", "平垫圈", "法兰螺母"], "电动工具": ["冲击钻", "角磨机", "电锤", "曲线锯"],
            "手动工具": ["活动扳手", "钢丝钳", "螺丝刀套装", "卷尺", "羊角锤"], "电工电料": ["空气开关", "五孔插座", "电缆线", "LED筒灯", "接线端子"],
            "水暖管件": ["PPR弯头", "球阀", "角阀", "软管", "地漏"]}
    spec = ["A型", "B型", "C型", "加强型", "标准型", "经济型"]
    price = {"紧固件": 1.8, "电动工具": 320, "手动工具": 38, "电工电料": 26, "水暖管件": 14}
    qty = {"紧固件": 900, "电动工具": 22, "手动工具": 110, "电工电料": 210, "水暖管件": 260}
    sup = ["宁波恒固", "永康力霸", "温州正东", "佛山联塑达", "上海东明", "义乌百工", "常州锐捷", "台州通用", "杭州华工"]
    rows, k = [], 0
    for c, l in base.items():
        for i in l:
            for s in spec:
                k += 1
                p = r2(price[c] * rng.lognormal(0, 0.45)); sp = rng.choice(sup); stop = "是" if rng.random() < 0.09 else "否"
                for w, pr in (("上海仓", 0.95), ("杭州仓", 0.75), ("南京仓", 0.6), ("合肥仓", 0.45)):
                    if rng.random() > pr:
                        continue
                    q = 0 if rng.random() < 0.06 else int(rng.gamma(1.4, qty[c] / 1.4))
                    ind = pd.Timestamp("2024-09-30") - pd.Timedelta(days=int(rng.gamma(1.2, 90)))
                    outd = min(pd.Timestamp("2024-09-30"), ind + pd.Timedelta(days=int(rng.gamma(1.2, 30))))
                    rows.append((f"WJ{k:04d}", i + s, c, w, sp, q, int(qty[c] * rng.choice([0.2, 0.3, 0.4])), p, r2(q * p), ind.strftime("%Y-%m-%d"), None if rng.random() < 0.07 else outd.strftime("%Y-%m-%d"), stop))
    df = pd.DataFrame(rows, columns=["SKU编码", "商品名称", "类别", "仓库", "供应商", "库存数量", "安全库存", "成本单价", "库存金额", "最近入库日期", "最近出库日期", "是否停产"])
    df.to_csv(path("库存台账.csv"), index=False)
    df = pd.read_csv(path("库存台账.csv"))
    print("stock", len(df))
    A = df["库存金额"]
    t = Table("stock", "库存台账.csv")
    t.q("目前库存总金额是多少？", [A.sum()])
    t.groups("各仓库的库存数量分别有多少", df.groupby("仓库")["库存数量"].sum())
    t.groups("换成库存金额看看", df.groupby("仓库")["库存金额"].sum(), earlier=["各仓库的库存数量分别有多少"])
    t.top("哪个类别占用的库存金额最大？", df.groupby("类别")["库存金额"].sum())
    t.q("库存数量为0的记录有多少条", [(df["库存数量"] == 0).sum()])
    t.groups("按库存金额排一下，前三名的供应商是谁", df.groupby("供应商")["库存金额"].sum(), 3)
    t.q("已经停产的商品还压着多少库存金额？", [A[df["是否停产"] == "是"].sum()])
    t.q("我们一共有多少个不同的SKU？", [df["SKU编码"].nunique()])
    t.q("杭州仓的电动工具库存金额是多少", [A[(df["仓库"] == "杭州仓") & (df["类别"] == "电动工具")].sum()])
    t.q("上海仓的库存金额占全部的百分之几？", [Pct(A[df["仓库"] == "上海仓"].sum() / A.sum())])
    c = df.groupby("SKU编码")["库存金额"].sum().sort_values(ascending=False).cumsum() / A.sum()
    t.q("库存金额累计占到80%的SKU有多少个？", [int((c < 0.8).sum() + 1)], tol=0.011)
    d = pd.to_datetime(df["最近入库日期"])
    t.q("最近入库日期在2023年的，库存金额一共是多少？", [A[d.dt.year == 2023].sum()])
    t.q("最近出库日期为空的有几条", [df["最近出库日期"].isna().sum()])
    hi = df.loc[df["成本单价"].idxmax()]
    assert df.loc[df["成本单价"] == hi["成本单价"], "商品名称"].nunique() == 1
    t.q("成本单价最高的商品是哪个，单价多少？", [hi["成本单价"]], [hi["商品名称"]])
    t.q("库存数量低于安全库存的记录有多少条？", [(df["库存数量"] < df["安全库存"]).sum()])
    t.no("空气开关A型下个月应该补多少货？")
    t.no("各类别的库存周转率是多少？")
    t.no("哪家供应商的产品质量最差？")


# ---------------------------------------------------------------- 诊所
def clinic():
    rng = np.random.default_rng(202)
    n = 2150
    dep = {"内科": (0.31, 160), "儿科": (0.24, 130), "口腔科": (0.2, 420), "皮肤科": (0.15, 230), "中医科": (0.1, 190)}
    doc = {"内科": ["刘建国", "何晓燕"], "儿科": ["方敏", "吴迪"], "口腔科": ["许文静", "蒋涛"], "皮肤科": ["曾琳"], "中医科": ["钱伯仁"]}
    sat = {"刘建国": 4.5, "何晓燕": 4.3, "方敏": 4.65, "吴迪": 3.9, "许文静": 4.6, "蒋涛": 4.2, "曾琳": 4.4, "钱伯仁": 4.75}
    d = dates(rng, "2023-09-01", "2024-10-15", n, lambda x: (1.35 if x.month in (11, 12, 8) else 1) * (1.25 if x.weekday() > 4 else 1) * (1 + 0.02 * ((x.year - 2023) * 12 + x.month - 9)))
    g = rng.choice(list(dep), n, p=[v[0] for v in dep.values()])
    np_ = 900
    pw = rng.gamma(0.9, 1, np_) + 0.15
    pid = rng.choice(np_, n, p=pw / pw.sum())
    ages = rng.integers(18, 82, np_); kids = rng.integers(1, 14, np_); sex = np.where(rng.random(np_) < 0.55, "女", "男")
    ins = rng.choice(["职工医保", "居民医保", "自费", "商业保险"], np_, p=[0.42, 0.28, 0.2, 0.1])
    iskid = rng.random(np_) < 0.26
    gg = np.array([("儿科" if iskid[p] and x != "口腔科" else ("内科" if (x == "儿科" and not iskid[p]) else x)) for p, x in zip(pid, g)])
    dd = np.array([rng.choice(doc[x], p=[0.6, 0.4] if len(doc[x]) == 2 else None) for x in gg])
    wait = np.maximum(1, rng.gamma(2.2, 10, n) * np.array([{"儿科": 1.5, "内科": 1.1}.get(x, 0.8) for x in gg])).round()
    df = pd.DataFrame({"就诊日期": d.strftime("%Y-%m-%d"), "患者编号": [f"P{10001 + p}" for p in pid], "性别": sex[pid],
                       "年龄": np.where(iskid[pid], kids[pid], ages[pid]), "科室": gg, "医生": dd,
                       "号别": rng.choice(["普通号", "专家号"], n, p=[0.77, 0.23]), "医保类型": ins[pid],
                       "候诊时间(分钟)": wait.astype(int),
                       "总费用(元)": [r2(dep[x][1] * rng.lognormal(0, 0.5)) for x in gg],
                       "满意度": [int(np.clip(round(rng.normal(sat[x], 0.7)), 1, 5)) for x in dd]})
    df["满意度"] = df["满意度"].astype("Int64")
    df.loc[rng.random(n) < 0.3, "满意度"] = pd.NA
    df.to_csv(path("就诊记录.csv"), index=False, encoding="utf-8-sig")
    df = pd.read_csv(path("就诊记录.csv"), encoding="utf-8-sig")
    D = pd.to_datetime(df["就诊日期"]); ym = D.dt.to_period("M"); qd = D.dt.to_period("Q"); F = df["总费用(元)"]; W = df["候诊时间(分钟)"]
    assert D.max() == pd.Timestamp("2024-10-15")
    t = Table("clinic", "就诊记录.csv")
    t.groups("每个科室的就诊人次", df.groupby("科室").size())
    t.q("一共有多少位不同的患者来过？", [df["患者编号"].nunique()])
    t.top("接诊量最大的医生是哪位？", df.groupby("医生").size())
    t.q("2024年9月的总费用是多少", [F[ym == "2024-09"].sum()])
    t.q("上个月儿科看了多少人次？", [((ym == "2024-09") & (df["科室"] == "儿科")).sum()])
    t.q("专家号占全部就诊的比例是多少？", [Pct((df["号别"] == "专家号").mean())])
    t.q("儿科的平均候诊时间要多久", [W[df["科室"] == "儿科"].mean()])
    t.q("口腔科呢", [W[df["科室"] == "口腔科"].mean()], earlier=["儿科的平均候诊时间要多久"])
    t.q("候诊时间的90分位数是多少分钟？", [W.quantile(0.9)], tol=0.02)
    gr = F[qd == "2024Q3"].sum() / F[qd == "2024Q2"].sum() - 1
    assert gr > 0.02, gr
    t.q("2024年第三季度总费用环比增长率是多少？", [Pct(gr)])
    t.trend("想看一下每个月的就诊人次变化趋势", df.groupby(ym).size())
    t.q("60岁以上（含60岁）的患者一共就诊了多少人次？", [(df["年龄"] >= 60).sum()])
    t.top("哪个医生的平均满意度最低", df.groupby("医生")["满意度"].mean(), low=True)
    t.q("自费患者的总费用合计", [F[df["医保类型"] == "自费"].sum()])
    first = D.groupby(df["患者编号"]).min().dt.to_period("M")
    t.q("以首次就诊日期算，2024年3月新增了多少患者？", [(first == "2024-03").sum()])
    sx = df["性别"].value_counts(normalize=True)
    t.q("男女患者的就诊人次各占百分之几？", [Pct(sx["男"]), Pct(sx["女"])], ["男", "女"], report=True)
    t.no("儿科候诊时间为什么这么长？")
    t.no("今年最常见的诊断是什么病？")
    t.no("帮我写一个国庆停诊通知")


# ---------------------------------------------------------------- 费用报销
def expense():
    rng = np.random.default_rng(203)
    n = 940
    dept = {"销售部": 0.38, "市场部": 0.2, "研发部": 0.2, "行政部": 0.13, "财务部": 0.09}
    who = {"销售部": ["马超", "林芳", "杜威", "肖楠", "曹颖"], "市场部": ["江雪", "苏航", "田甜"], "研发部": ["高翔", "钟毅", "袁野"], "行政部": ["沈悦", "范冰洁"], "财务部": ["贺兰", "丁宁"]}
    typ = {"差旅费": (0.34, 1650), "业务招待费": (0.2, 980), "办公用品": (0.16, 320), "交通费": (0.17, 145), "培训费": (0.05, 2600), "通讯费": (0.08, 180)}
    g = rng.choice(list(dept), n, p=list(dept.values()))
    ty = rng.choice(list(typ), n, p=[v[0] for v in typ.values()])
    d = dates(rng, "2024-01-03", "2024-10-29", n, lambda x: (0.15 if x.weekday() > 4 else 1) * {2: 0.6, 8: 1.3, 9: 1.25}.get(x.month, 1))
    amt = [r2(typ[x][1] * rng.lognormal(0, 0.6)) for x in ty]
    df = pd.DataFrame({"报销单号": [f"BX2024{i:04d}" for i in range(1, n + 1)], "申请日期": d, "部门": g, "申请人": [rng.choice(who[x]) for x in g],
                       "费用类型": ty, "所属项目": rng.choice(["A客户续约", "新品发布会", "华南拓展", "系统升级", None, None], n),
                       "报销金额(元)": amt, "发票是否齐全": np.where(rng.random(n) < 0.91, "是", "否"),
                       "审批状态": np.where(d > "2024-10-14", rng.choice(["待审批", "已通过"], n, p=[0.7, 0.3]), rng.choice(["已通过", "已驳回"], n, p=[0.95, 0.05]))})
    with pd.ExcelWriter(path("2024费用报销.xlsx"), datetime_format="yyyy-mm-dd") as w:
        df.to_excel(w, index=False, sheet_name="报销明细")
    df = pd.read_excel(path("2024费用报销.xlsx"))
    D = df["申请日期"]; A = df["报销金额(元)"]; m = D.dt.month
    t = Table("expense", "2024费用报销.xlsx")
    t.q("今年申请报销的总金额是多少？", [A.sum()])
    t.groups("各部门的报销金额", df.groupby("部门")["报销金额(元)"].sum())
    t.top("哪一类费用的报销金额最高？", df.groupby("费用类型")["报销金额(元)"].sum())
    t.q("差旅费在总报销金额里占多大比例", [Pct(A[df["费用类型"] == "差旅费"].sum() / A.sum())])
    t.q("帮我查一下林芳今年的报销金额合计", [A[df["申请人"] == "林芳"].sum()])
    t.q("待审批的报销单有多少张？", [(df["审批状态"] == "待审批").sum()])
    t.q("金额呢？", [A[df["审批状态"] == "待审批"].sum()], earlier=["待审批的报销单有多少张？"])
    t.q("单笔报销金额超过5000元的有几笔？", [(A > 5000).sum()])
    t.q("请对比一下一季度和二季度的报销金额", [A[m <= 3].sum(), A[m.between(4, 6)].sum()], report=True)
    g8 = A[m == 8].sum() / A[m == 7].sum() - 1
    assert g8 > 0.02, g8
    t.q("8月报销金额比7月增长了百分之多少？", [Pct(g8)])
    t.trend("市场部每月的报销金额是怎么变化的？", A[df["部门"] == "市场部"].groupby(m).sum())
    t.groups("报销金额最多的5个人是谁", df.groupby("申请人")["报销金额(元)"].sum(), 5)
    t.q("发票不齐全的单子有多少张", [(df["发票是否齐全"] == "否").sum()])
    t.q("销售部业务招待费平均每笔多少钱？", [A[(df["部门"] == "销售部") & (df["费用类型"] == "业务招待费")].mean()])
    b = df.loc[A.idxmax()]
    t.q("金额最大的一笔报销是谁报的？多少钱", [b["报销金额(元)"]], [b["申请人"]])
    t.q("报销金额的标准差是多少", [A.std()], tol=0.002)
    t.no("市场部今年的预算还剩多少？")
    t.no("哪些报销是虚假报销？")
    t.no("销售部的差旅费怎么才能降下来，给点建议")


# ---------------------------------------------------------------- marketing
def marketing():
    rng = np.random.default_rng(204)
    camp = {"Spring Launch": ("Google Ads", 210, 1.0), "Brand Search": ("Google Ads", 150, 1.5), "Retargeting EU": ("Facebook", 95, 1.25), "Lookalike US": ("Facebook", 180, 0.8),
            "Webinar Push": ("LinkedIn", 160, 0.55), "CFO Whitepaper": ("LinkedIn", 120, 0.4), "Newsletter Ads": ("Email", 35, 2.1), "Short Video Test": ("TikTok", 85, 0.6)}
    rows = []
    for d in pd.date_range("2024-01-01", "2024-07-24"):
        for c, (ch, sp, ef) in camp.items():
            if c == "Spring Launch" and not pd.Timestamp("2024-02-15") <= d <= pd.Timestamp("2024-06-15"):
                continue
            if c == "Short Video Test" and d < pd.Timestamp("2024-04-01"):
                continue
            for reg in (("EU",) if c == "Retargeting EU" else ("US",) if c == "Lookalike US" else ("US", "EU")):
                s = r2(sp * (0.62 if reg == "EU" else 1) * rng.normal(1, 0.15) * (0.7 if d.weekday() > 4 else 1) * (1 + 0.04 * d.month))
                cl = int(rng.poisson(max(1, s / 2.1 * ef ** 0.3)))
                im = int(cl / max(0.004, rng.normal(0.021, 0.003)))
                ld = int(rng.poisson(max(0.1, s * ef / 38)))
                cv = int(rng.binomial(ld, 0.22))
                rows.append((d.strftime("%Y-%m-%d"), c, ch, reg, im, cl, s, ld, cv, r2(cv * rng.normal(410, 60))))
    df = pd.DataFrame(rows, columns=["date", "campaign", "channel", "market", "impressions", "clicks", "spend_usd", "leads", "conversions", "revenue_usd"])
    df.to_csv(path("ad_performance.csv"), index=False)
    df = pd.read_csv(path("ad_performance.csv"))
    print("ads", len(df))
    D = pd.to_datetime(df["date"]); m = D.dt.month; S = df["spend_usd"]
    t = Table("ads", "ad_performance.csv")
    t.q("How much have we spent on ads this year?", [S.sum()])
    t.groups("Leads by channel", df.groupby("channel")["leads"].sum())
    t.top("Which campaign generated the most revenue?", df.groupby("campaign")["revenue_usd"].sum())
    t.q("How much did we spend on LinkedIn in Q2?", [S[(df.channel == "LinkedIn") & m.between(4, 6)].sum()])
    t.q("What about Facebook?", [S[(df.channel == "Facebook") & m.between(4, 6)].sum()], earlier=["How much did we spend on LinkedIn in Q2?"])
    t.trend("Give me the monthly spend trend from January through June", S[m <= 6].groupby(m).sum())
    mm = df.groupby(m)["leads"].sum()
    assert mm[4] / mm[3] - 1 > 0.01, mm
    t.q("What was the month-over-month growth in leads in April 2024?", [Pct(mm[4] / mm[3] - 1)])
    t.q("What share of total spend goes to Google Ads?", [Pct(S[df.channel == "Google Ads"].sum() / S.sum())])
    t.q("How strongly are spend and leads correlated?", [S.corr(df["leads"])], tol=0.02)
    low = df.groupby("campaign")["revenue_usd"].sum().sort_values().head(3)
    t.q("Which three campaigns brought in the least revenue?", list(low.values), list(low.index), report=True)
    t.q("number of conversions in the EU last month", [df.loc[(df.market == "EU") & (m == 6), "conversions"].sum()])
    t.q("Could you tell me how many clicks Brand Search got in the US in May?", [df.loc[(df.campaign == "Brand Search") & (df.market == "US") & (m == 5), "clicks"].sum()])
    t.q("Overall click-through rate, i.e. clicks divided by impressions?", [Pct(df.clicks.sum() / df.impressions.sum())], tol=0.025)
    t.groups("Rank the campaigns by conversions", df.groupby("campaign")["conversions"].sum())
    t.q("Total revenue excluding the Spring Launch campaign", [df.loc[df.campaign != "Spring Launch", "revenue_usd"].sum()])
    t.q("How did EU and US compare in revenue?", [df.loc[df.market == "EU", "revenue_usd"].sum(), df.loc[df.market == "US", "revenue_usd"].sum()], report=True)
    t.no("Which ad creative performed best?")
    t.no("Write me a better headline for the Webinar Push campaign")
    t.no("Why did leads go up in April?")


# ---------------------------------------------------------------- CRM
def crm():
    rng = np.random.default_rng(205)
    n = 680
    own = {"Hannah Cole": 0.3, "Luis Ortega": 0.26, "Mei Tan": 0.24, "Greg Novak": 0.2}
    a1 = ["Acorn", "Beacon", "Cobalt", "Dune", "Ember", "Falcon", "Granite", "Hazel", "Indigo", "Juniper", "Keystone", "Lattice", "Meridian", "Nimbus", "Oakline", "Pioneer", "Quartz", "Ridgeway", "Summit", "Tidal"]
    a2 = ["Industries", "Group", "Logistics", "Foods", "Tech", "Holdings", "Partners", "Medical", "Builders", "Insurance"]
    accs = [f"{a} {b}" for a in a1 for b in a2]
    acc = rng.choice(accs, n)
    seg = dict(zip(accs, rng.choice(["SMB", "Mid-Market", "Enterprise"], len(accs), p=[0.5, 0.33, 0.17])))
    reg = dict(zip(accs, rng.choice(["AMER", "EMEA", "APAC"], len(accs), p=[0.5, 0.33, 0.17])))
    cr = dates(rng, "2023-02-01", "2024-08-20", n, lambda x: 0.2 if x.weekday() > 4 else 1 + 0.02 * ((x.year - 2023) * 12 + x.month))
    cl = cr + pd.to_timedelta(rng.integers(14, 150, n), unit="D")
    own_ = rng.choice(list(own), n, p=list(own.values()))
    wr = {"Hannah Cole": 0.42, "Luis Ortega": 0.33, "Mei Tan": 0.4, "Greg Novak": 0.25}
    stage = np.where(cl > pd.Timestamp("2024-08-20"), rng.choice(["Prospecting", "Qualified", "Proposal", "Negotiation"], n, p=[0.28, 0.3, 0.25, 0.17]),
                     np.where(rng.random(n) < np.array([wr[x] for x in own_]), "Closed Won", "Closed Lost"))
    base = {"SMB": 7200, "Mid-Market": 24000, "Enterprise": 78000}
    amt = np.array([round(base[seg[x]] * rng.lognormal(0, 0.5) / 50) * 50 for x in acc])
    df = pd.DataFrame({"Opportunity ID": [f"OPP-{3001 + i}" for i in range(n)], "Account Name": acc, "Owner": own_,
                       "Region": [reg[x] for x in acc], "Segment": [seg[x] for x in acc],
                       "Lead Source": rng.choice(["Referral", "Inbound Web", "Trade Show", "Cold Outreach", "Partner"], n, p=[0.2, 0.32, 0.13, 0.23, 0.12]),
                       "Stage": stage, "Amount": [f"${x:,.0f}" for x in amt],
                       "Created Date": cr.strftime("%Y-%m-%d"),
                       "Close Date": [x.strftime("%Y-%m-%d") if s.startswith("Closed") else None for x, s in zip(cl, stage)],
                       "Competitor": rng.choice(["none", "Rivalsoft", "Opentrack", None], n, p=[0.35, 0.2, 0.15, 0.3])})
    df.to_csv(path("opportunities.csv"), index=False)
    df = pd.read_csv(path("opportunities.csv"), keep_default_na=True)
    df["A"] = df["Amount"].str.replace(r"[$,]", "", regex=True).astype(float)
    won = df["Stage"] == "Closed Won"; C = pd.to_datetime(df["Created Date"]); X = pd.to_datetime(df["Close Date"])
    t = Table("crm", "opportunities.csv")
    t.q("What's the total value of our closed won deals?", [df.loc[won, "A"].sum()])
    t.groups("how many opportunities in each stage", df.groupby("Stage").size())
    t.top("Which owner has won the most in terms of amount (Closed Won only)?", df[won].groupby("Owner")["A"].sum())
    t.q("What percentage of all opportunities are Closed Lost?", [Pct((df.Stage == "Closed Lost").mean())])
    t.q("Average amount of a Closed Won Enterprise deal?", [df.loc[won & (df.Segment == "Enterprise"), "A"].mean()])
    t.q("And for SMB?", [df.loc[won & (df.Segment == "SMB"), "A"].mean()], earlier=["Average amount of a Closed Won Enterprise deal?"])
    t.q("How much money is sitting in Negotiation at the moment?", [df.loc[df.Stage == "Negotiation", "A"].sum()])
    t.q("Closed Won amount with a close date in Q2 2024", [df.loc[won & (X.dt.to_period("Q") == "2024Q2"), "A"].sum()])
    t.trend("How many opportunities were created per quarter?", df.groupby(C.dt.to_period("Q")).size())
    t.top("Which lead source has the highest average amount?", df.groupby("Lead Source")["A"].mean())
    t.q("How many opportunities don't have a close date yet?", [X.isna().sum()])
    t.q("What's the median opportunity amount?", [df["A"].median()])
    t.q("How many different accounts in EMEA do we have opportunities with?", [df.loc[df.Region == "EMEA", "Account Name"].nunique()])
    t.groups("Top 5 accounts by won amount (stage Closed Won)", df[won].groupby("Account Name")["A"].sum(), 5)
    t.q("What share of the Closed Won amount came from referrals?", [Pct(df.loc[won & (df["Lead Source"] == "Referral"), "A"].sum() / df.loc[won, "A"].sum())])
    t.no("Why do we keep losing deals to Rivalsoft?")
    t.no("What is the gross margin on the Enterprise deals?")
    t.no("Who is the CEO of Acorn Foods?")


# ---------------------------------------------------------------- online shop (two files)
def shop():
    rng = np.random.default_rng(206)
    cats = {"Home & Kitchen": (["Mug", "Cutting Board", "Pan", "Storage Box", "Tea Towel"], 24), "Outdoor": (["Tent", "Headlamp", "Water Bottle", "Camp Chair", "Cooler"], 58),
            "Toys": (["Puzzle", "Building Set", "Plush Bear", "Board Game", "Kite"], 21), "Beauty": (["Face Cream", "Soap Set", "Hair Oil", "Candle", "Bath Salt"], 17)}
    br = ["Nordhem", "Pinecrest", "Lumo", "Casa Verde", "Tiko"]
    prod = []
    for c, (l, p) in cats.items():
        for x in l:
            for b in br[: 5]:
                for s in ("", " XL"):
                    prod.append((f"{b} {x}{s}", c, b, r2(p * rng.lognormal(0, 0.4) * (1.5 if s else 1))))
    P = pd.DataFrame(prod, columns=["product_name", "category", "brand", "p"])
    P.insert(0, "sku", [f"SKU{7001 + i}" for i in range(len(P))])
    n = 2900
    w = rng.gamma(0.8, 1, len(P)) + 0.05
    w *= P["brand"].map({"Nordhem": 1.5, "Pinecrest": 1.1, "Lumo": 0.9, "Casa Verde": 0.8, "Tiko": 0.6}).values
    pi = rng.choice(len(P), n, p=w / w.sum())
    nc = 1150
    cw = rng.gamma(0.8, 1, nc) + 0.1
    ci = rng.choice(nc, n, p=cw / cw.sum())
    ctry = rng.choice(["UK", "Ireland", "France", "Germany", "Spain"], nc, p=[0.52, 0.14, 0.13, 0.13, 0.08])
    d = dates(rng, "2023-03-01", "2024-09-12", n, lambda x: (1 + 0.03 * ((x.year - 2023) * 12 + x.month - 3)) * (1.9 if x.month in (11, 12) else 1))
    q = rng.choice([1, 2, 3, 4, 6], n, p=[0.55, 0.24, 0.1, 0.07, 0.04])
    q[1733] = 480
    coup = rng.random(n) < 0.27
    df = pd.DataFrame({"order_id": [f"W{100200 + i}" for i in range(n)], "order_date": d.strftime("%Y-%m-%d"), "customer_id": [f"C{4000 + i}" for i in ci],
                       "country": ctry[ci], "sku": P["sku"].values[pi], "quantity": q, "unit_price": P["p"].values[pi], "coupon_used": np.where(coup, "yes", "no")})
    df["order_total"] = (df.quantity * df.unit_price * np.where(coup, 0.9, 1)).round(2)
    df["returned"] = np.where(rng.random(n) < P["category"].map({"Home & Kitchen": 0.05, "Outdoor": 0.11, "Toys": 0.06, "Beauty": 0.03}).values[pi], "yes", "no")
    df["rating"] = pd.array(np.clip(np.round(rng.normal(4.2, 0.9, n)), 1, 5).astype(int), dtype="Int64")
    df.loc[rng.random(n) < 0.58, "rating"] = pd.NA
    df.to_csv(path("orders.csv"), index=False)
    P.drop(columns="p").to_csv(path("products.csv"), index=False)
    df = pd.read_csv(path("orders.csv")); P = pd.read_csv(path("products.csv"))
    j = df.merge(P, on="sku"); assert len(j) == len(df)
    print("orders", len(df), "products", len(P))
    D = pd.to_datetime(df["order_date"]); ym = D.dt.to_period("M"); T = df["order_total"]
    both = ["orders.csv", "products.csv"]
    t = Table("shop", "orders.csv")
    t.q("How many orders did we receive in 2023?", [(D.dt.year == 2023).sum()])
    t.groups("Sales (order total) by country please", df.groupby("country")["order_total"].sum())
    t.q("What's the average order value?", [T.mean()])
    t.q("sales last month?", [T[ym == "2024-08"].sum()])
    g = T[ym == "2024-08"].sum() / T[ym == "2023-08"].sum() - 1
    assert g > 0.02, g
    t.q("How did August 2024 sales do year over year? Give me the growth rate.", [Pct(g)])
    t.groups("Sales by product category", j.groupby("category")["order_total"].sum(), files=both)
    t.top("Which brand sells the most by order total?", j.groupby("brand")["order_total"].sum(), files=both)
    t.q("Return rate for Outdoor products?", [Pct((j.loc[j.category == "Outdoor", "returned"] == "yes").mean())], files=both)
    t.q("What percentage of orders used a coupon?", [Pct((df.coupon_used == "yes").mean())])
    t.q("How many customers ordered more than once?", [(df.groupby("customer_id").size() > 1).sum()])
    t.q("Are there any outliers in quantity? Show me the order.", [480], [df.loc[df.quantity == 480, "order_id"].iloc[0]], report=True)
    t.trend("Sales per quarter, how has it developed?", T.groupby(D.dt.to_period("Q")).sum())
    first = D.groupby(df.customer_id).min().dt.to_period("M")
    t.q("How many new customers (first order) did we get in June 2024?", [(first == "2024-06").sum()])
    t.q("How many orders in Germany were returned?", [((df.country == "Germany") & (df.returned == "yes")).sum()])
    t.q("In France?", [((df.country == "France") & (df.returned == "yes")).sum()], earlier=["How many orders in Germany were returned?"])
    t.no("What was our profit last month?")
    t.no("Which product should we put on the home page for Christmas?")
    t.no("How do our prices compare to Amazon?")


stock(); clinic(); expense(); marketing(); crm(); shop()
finish()
