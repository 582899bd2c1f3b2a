"""Five more tables with their questions, written after the rules had learnt from the first twelve, and scored once."""
import datetime as dt
import random

import pandas as pd
from tables import day, write


def library():
    rnd = random.Random(8201)
    rows = []
    for i in range(1, 651):
        out = day(rnd, dt.date(2023, 1, 1), 700)
        kept = max(1, int(rnd.gauss(18, 9)))
        rows.append([f"LN{i:05d}", f"R{rnd.randint(1, 180):03d}", rnd.choice(["Fiction", "History", "Science", "Children", "Comics"]), rnd.choice(["Main Library", "Eastside", "Riverbank"]), out.isoformat(), kept, rnd.choice([0, 0, 0, 1, 2]), round(max(0, kept - 21) * 0.25, 2), rnd.choice(["adult", "student", "senior"])])
    write("library_loans.csv", ["loan_no", "reader_id", "book_genre", "branch", "checkout_dt", "days_kept", "renewals", "late_fee_eur", "reader_type"], rows)


def fleet():
    rnd = random.Random(8202)
    rows = []
    for i in range(1, 521):
        kind = rnd.choice(["保养", "维修", "年检", "事故"])
        rows.append([f"WB{i:04d}", rnd.choice(["沪A1001", "沪A1002", "沪B2088", "苏E3312", "浙C7765"]), rnd.choice(["货车", "面包车", "轿车"]), kind, rnd.choice(["老赵汽修", "捷顺4S店", "自有车间"]), day(rnd, dt.date(2023, 6, 1), 540).isoformat(), round(rnd.lognormvariate(6.3, 0.7)), round(rnd.lognormvariate(5, 0.5)), rnd.randint(20000, 180000), rnd.randint(1, 9), rnd.choice(["是", "否", "否"])])
    write("车辆维保.csv", ["工单号", "车牌号", "车辆类型", "维保类型", "服务商", "进厂日期", "配件费(元)", "工时费(元)", "里程数(公里)", "停运天数", "是否保险理赔"], rows)


def cinema():
    rnd = random.Random(8203)
    rows = []
    for i in range(1, 801):
        n = rnd.randint(1, 6)
        price = rnd.choice([9.5, 12, 14.5])
        t = dt.datetime(2024, 1, 1) + dt.timedelta(rnd.randint(0, 240), hours=rnd.choice([14, 17, 20, 22]))
        rows.append([70000 + i, t.strftime("%Y-%m-%d %H:%M:%S"), rnd.choice(["Moonrise", "The Heist", "Robo Kids", "Silent Bay"]), rnd.choice(["2D", "3D", "IMAX"]), rnd.choice(["Screen 1", "Screen 2", "Screen 3"]), n, price, round(n * price, 2), round(rnd.choice([0, 0, 6.5, 11, 18]), 2), rnd.choice(["App", "Website", "Box office"]), rnd.choice(["Y", "N", "N"])])
    write("cinema_tickets.csv", ["TxnID", "ShowTime", "FilmTitle", "Format", "Screen", "TicketsSold", "TicketPrice", "BoxOffice", "SnackSpend", "SalesChannel", "IsMember"], rows)


def charity():
    rnd = random.Random(8204)
    rows = []
    for i in range(1, 601):
        rows.append([f"JZ{i:05d}", rnd.choice(["个人", "企业", "基金会"]), rnd.choice(["助学", "医疗救助", "环保", "救灾"]), rnd.choice(["线上", "线下"]), day(rnd, dt.date(2023, 1, 1), 690).strftime("%Y/%m/%d"), round(rnd.lognormvariate(5.5, 1.1), 2), rnd.choice(["北京", "上海", "广东", "四川", "浙江"]), rnd.choice(["月捐", "单次"]), rnd.choice(["已开票", "未开票"])])
    write("捐赠流水.csv", ["捐赠编号", "捐赠人类型", "项目名称", "捐赠渠道", "捐赠日期", "捐赠金额", "所在省份", "捐赠方式", "开票状态"], rows)


def incidents():
    rnd = random.Random(8205)
    rows = []
    for i in range(1, 701):
        sev = rnd.choices(["P1", "P2", "P3"], [1, 3, 6])[0]
        t = dt.datetime(2024, 1, 1) + dt.timedelta(rnd.randint(0, 300), minutes=rnd.randint(0, 1439))
        rows.append([f"INC{i:05d}", t.strftime("%Y-%m-%d %H:%M"), sev, rnd.choice(["Checkout", "Search", "Login", "Email"]), rnd.choice(["Platform", "Web", "Data"]), max(2, int(rnd.expovariate(1 / {"P1": 60, "P2": 140, "P3": 400}[sev]))), max(1, int(rnd.expovariate(1 / 12))), rnd.choice(["Closed", "Closed", "Closed", "Open"]), rnd.choice(["Deploy", "Hardware", "Config", "Unknown"]), rnd.randint(0, 4000)])
    write("it_incidents.csv", ["incident_id", "opened_at", "severity", "service", "team", "time_to_fix_min", "ack_min", "state", "root_cause", "users_affected"], rows)


def ask_library(q, d):
    d["t"] = pd.to_datetime(d["checkout_dt"])
    g = d.book_genre.value_counts()
    q("Which genre gets borrowed the most?", lead=g.index[0], numbers=[g.iloc[0]])
    q("How many loans did we have in 2024?", numbers=[(d.t.dt.year == 2024).sum()])
    q("Total late fees by branch", where="report", texts=d.branch.unique(), numbers=d.groupby("branch").late_fee_eur.sum().values)
    q("How many distinct readers borrowed from Eastside?", numbers=[d[d.branch == "Eastside"].reader_id.nunique()])
    q("On average, how many days do students keep a book?", numbers=[d[d.reader_type == "student"].days_kept.mean()])
    q("loans per month in 2023", where="report", numbers=d[d.t.dt.year == 2023].groupby(d.t.dt.month).size().values)
    q("What share of loans are by seniors?", numbers=[(d.reader_type == "senior").mean()])
    q("Who borrowed the most books?", lead=d.reader_id.value_counts().index[0], numbers=[d.reader_id.value_counts().iloc[0]])
    q("What is the highest late fee anyone paid?", numbers=[d.late_fee_eur.max()])
    q("Number of loans kept longer than 30 days", numbers=[(d.days_kept > 30).sum()])
    q("Average renewals by reader type", where="report", texts=d.reader_type.unique(), numbers=d.groupby("reader_type").renewals.mean().values)
    q("Compare Main Library and Riverbank in number of loans", where="report", numbers=[(d.branch == "Main Library").sum(), (d.branch == "Riverbank").sum()])
    q.no("Which author is the most popular?")
    q.no("How can we get more teenagers to read?")
    q.no("How many books were damaged?")


def ask_fleet(q, d):
    d["t"] = pd.to_datetime(d["进厂日期"])
    part, work = "配件费(元)", "工时费(元)"
    q("配件费一共花了多少？", numbers=[d[part].sum()])
    c = d.groupby("车牌号")[part].sum().sort_values(ascending=False)
    q("哪辆车的配件费最高", lead=c.index[0], numbers=[c.iloc[0]])
    q("各服务商的工单数量", where="report", texts=d["服务商"].unique(), numbers=d["服务商"].value_counts().values)
    q("货车平均停运几天？", numbers=[d[d["车辆类型"] == "货车"]["停运天数"].mean()])
    q("2024年每个月的工时费", where="report", numbers=[d[d.t.dt.year == 2024].groupby(d.t.dt.month)[work].sum().max()])
    q("事故维修占全部工单的比例是多少", numbers=[(d["维保类型"] == "事故").mean()])
    q("保险理赔的工单有几单", numbers=[(d["是否保险理赔"] == "是").sum()])
    q("维修的平均配件费", numbers=[d[d["维保类型"] == "维修"][part].mean()])
    q("捷顺4S店的工时费总额", numbers=[d[d["服务商"] == "捷顺4S店"][work].sum()])
    q("里程数超过15万公里的记录有多少", numbers=[(d["里程数(公里)"] > 150000).sum()])
    q("配件费和工时费分别是多少", where="report", numbers=[d[part].sum(), d[work].sum()])
    s = d.groupby("维保类型")["停运天数"].mean().sort_values(ascending=False)
    q("哪种维保类型平均停运时间最长", lead=s.index[0], numbers=[s.iloc[0]])
    q("Total labour cost... I mean 工时费, by vehicle type (车辆类型)", where="report", texts=d["车辆类型"].unique(), numbers=d.groupby("车辆类型")[work].sum().values)
    q.no("哪辆车该报废了？")
    q.no("油费花了多少？")
    q.no("司机的平均驾龄是多少年")


def ask_cinema(q, d):
    d["t"] = pd.to_datetime(d["ShowTime"])
    f = d.groupby("FilmTitle").BoxOffice.sum().sort_values(ascending=False)
    q("Which film made the most at the box office?", lead=f.index[0], numbers=[f.iloc[0]])
    q("How many tickets did we sell for Moonrise?", numbers=[d[d.FilmTitle == "Moonrise"].TicketsSold.sum()])
    q("Box office by format", where="report", texts=d.Format.unique(), numbers=d.groupby("Format").BoxOffice.sum().values)
    q("average snack spend of members", numbers=[d[d.IsMember == "Y"].SnackSpend.mean()])
    q("What's the busiest screen in terms of tickets sold?", lead=d.groupby("Screen").TicketsSold.sum().idxmax(), numbers=[d.groupby("Screen").TicketsSold.sum().max()])
    q("What percentage of transactions went through the app?", numbers=[(d.SalesChannel == "App").mean()])
    m = d.groupby(d.t.dt.month).BoxOffice.sum()
    q("monthly box office trend", where="report", numbers=m.values)
    q("Total snack spend in February 2024", numbers=[d[d.t.dt.month == 2].SnackSpend.sum()])
    q("How many IMAX transactions were there in June?", numbers=[((d.Format == "IMAX") & (d.t.dt.month == 6)).sum()])
    q("box office share per sales channel", where="report", texts=d.SalesChannel.unique(), numbers=(d.groupby("SalesChannel").BoxOffice.sum() / d.BoxOffice.sum()).values)
    h = d.groupby(d.t.dt.hour).TicketsSold.sum()
    q("tickets sold by hour of the day", where="report", numbers=h.values)
    q("各影片的票房", where="report", texts=f.index, numbers=f.values)
    q.no("What do critics think of Silent Bay?")
    q.no("How many seats does Screen 2 have?")
    q.no("Why is the 3D format unpopular?")


def ask_charity(q, d):
    d["t"] = pd.to_datetime(d["捐赠日期"])
    a = "捐赠金额"
    q("2024年一共收到多少捐款？", numbers=[d[d.t.dt.year == 2024][a].sum()])
    p = d.groupby("项目名称")[a].sum().sort_values(ascending=False)
    q("哪个项目筹到的钱最多？", lead=p.index[0], numbers=[p.iloc[0]])
    q("企业捐赠占总额的比例", numbers=[d[d["捐赠人类型"] == "企业"][a].sum() / d[a].sum()])
    q("个人捐赠的平均金额是多少", numbers=[d[d["捐赠人类型"] == "个人"][a].mean()])
    q("月捐有多少笔？", numbers=[(d["捐赠方式"] == "月捐").sum()])
    q("各省份捐赠金额排名", where="report", lead=d.groupby("所在省份")[a].sum().idxmax(), texts=d["所在省份"].unique(), numbers=d.groupby("所在省份")[a].sum().values)
    q("线上和线下渠道哪个捐得多", lead=d.groupby("捐赠渠道")[a].sum().idxmax(), numbers=[d.groupby("捐赠渠道")[a].sum().max()])
    q("还没开票的有多少笔", numbers=[(d["开票状态"] == "未开票").sum()])
    q("单笔捐赠超过1000元的有几笔", numbers=[(d[a] > 1000).sum()])
    m = d[d.t.dt.year == 2023].groupby(d.t.dt.month)[a].sum()
    q("2023年哪个月的捐赠金额最低", lead=f"2023-{m.idxmin():02d}", numbers=[m.min()])
    y = d.groupby(d.t.dt.year)[a].sum()
    q("2024年捐赠总额比2023年增长了多少？", where="report", numbers=[y[2024] / y[2023] - 1])
    q("捐赠金额的中位数和平均数", where="report", numbers=[d[a].median(), d[a].mean()])
    q.no("捐赠人为什么选择助学项目？")
    q.no("善款用到哪里去了？")
    q.no("志愿者有多少人？")


def ask_incidents(q, d):
    d["t"] = pd.to_datetime(d["opened_at"])
    fix = "time_to_fix_min"
    q("How many P1 incidents did we have?", numbers=[(d.severity == "P1").sum()])
    q("Mean time to fix by severity", where="report", texts=["P1", "P2", "P3"], numbers=d.groupby("severity")[fix].mean().values)
    s = d.service.value_counts()
    q("Which service breaks the most often?", lead=s.index[0], numbers=[s.iloc[0]])
    q("How many incidents are still open?", numbers=[(d.state == "Open").sum()])
    q("users affected by root cause", where="report", texts=d.root_cause.unique(), numbers=d.groupby("root_cause").users_affected.sum().values)
    q("How many incidents took more than 2 hours to fix?", numbers=[(d[fix] > 120).sum()])
    q("average acknowledgement time of the Web team", numbers=[d[d.team == "Web"].ack_min.mean()])
    q("incidents per week over time", where="report", numbers=[d.groupby(d.t.dt.to_period("W")).size().max()])
    q("What fraction of incidents was caused by a deploy?", numbers=[(d.root_cause == "Deploy").mean()])
    b = d.loc[d.users_affected.idxmax()]
    q("Which incident affected the most users?", where="report", texts=[b.incident_id], numbers=[b.users_affected])
    q("median time to fix for Checkout in Q3", numbers=[d[(d.service == "Checkout") & (d.t.dt.quarter == 3)][fix].median()])
    q("各团队的故障数量", where="report", texts=d.team.unique(), numbers=d.team.value_counts().values)
    q.no("What did the incidents cost us in dollars?")
    q.no("Which engineer is to blame?")
    q.no("Will Checkout go down again this month?")


ALL = [library, fleet, cinema, charity, incidents]
ASK = {"library_loans.csv": ask_library, "车辆维保.csv": ask_fleet, "cinema_tickets.csv": ask_cinema, "捐赠流水.csv": ask_charity, "it_incidents.csv": ask_incidents}
