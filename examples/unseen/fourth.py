"""Four more tables with their questions, written after the rules had learnt from all before, and scored once."""
import datetime as dt
import random

import pandas as pd
from tables import day, write


def repairs():
    rnd = random.Random(9301)
    rows = []
    for i in range(1, 541):
        brand = rnd.choice(["Nokta", "Pixelon", "Orange", "Zeta"])
        rows.append([f"RP{i:05d}", day(rnd, dt.date(2023, 2, 1), 640).isoformat(), brand, rnd.choice(["Screen", "Battery", "Water damage", "Charging port"]), rnd.choice(["Ivan", "Sofia", "Ming"]), round(rnd.lognormvariate(3.4, 0.5), 2), round(rnd.lognormvariate(4.4, 0.4), 2), rnd.randint(0, 14), rnd.choice(["Y", "N", "N", "N"]), rnd.choice(["walk-in", "mail-in"])])
    write("phone_repairs.csv", ["job_no", "recv_dt", "brand", "fault", "technician", "parts_cost", "amt_charged", "turnaround_days", "under_warranty", "intake"], rows)


def wells():
    rnd = random.Random(9302)
    rows, d = [], dt.date(2023, 1, 1)
    while d <= dt.date(2024, 9, 30):
        for plant, base in [("东湖水厂", 5200), ("南山水厂", 8100), ("西郊水厂", 3900)]:
            out = round(base * rnd.gauss(1, 0.08), 1)
            rows.append([d.strftime("%Y-%m-%d"), plant, rnd.choice(["地表水", "地下水"]), out, round(out * rnd.uniform(0.25, 0.35), 1), round(rnd.gauss(0.4, 0.1), 2), round(out * rnd.uniform(0.02, 0.05), 1), rnd.choice(["达标", "达标", "达标", "达标", "不达标"]), rnd.choice(["甲班", "乙班", "丙班"])])
        d += dt.timedelta(3)
    write("供水日报.csv", ["日期", "水厂", "水源", "供水量(吨)", "耗电量(度)", "浊度", "药剂用量(公斤)", "水质", "值班班组"], rows)


def events():
    rnd = random.Random(9303)
    rows = []
    for i in range(1, 281):
        cap = rnd.choice([120, 300, 800])
        sold = int(cap * rnd.uniform(0.3, 1))
        price = rnd.choice([15, 25, 40])
        rows.append([f"E{i:03d}", day(rnd, dt.date(2023, 1, 1), 700).isoformat(), rnd.choice(["Concert", "Lecture", "Comedy", "Workshop"]), rnd.choice(["Town Hall", "Old Mill", "Arena"]), cap, sold, price, sold * price, rnd.randint(200, 6000), rnd.choice(["", 3, 4, 4, 5]), rnd.choice(["Sold out", "Held", "Held", "Postponed"])])
    write("venue_events.csv", ["EventID", "EventDate", "EventType", "Venue", "Capacity", "TicketsSold", "TicketPrice", "TicketRevenue", "StaffCost", "AvgRating", "Status"], rows)


def purchase():
    rnd = random.Random(9304)
    rows = []
    for i in range(1, 621):
        n, price = rnd.randint(1, 400), round(rnd.lognormvariate(3, 0.8), 2)
        rows.append([f"CG{i:05d}", day(rnd, dt.date(2023, 4, 1), 560).strftime("%Y/%m/%d"), rnd.choice(["华信科技", "恒达五金", "绿源包装", "中联化工"]), rnd.choice(["电子元件", "包装材料", "五金件", "化工原料"]), n, price, round(n * price, 2), rnd.choice(["张磊", "何敏", "杜强"]), rnd.randint(2, 45), rnd.choice(["已入库", "运输中", "已退货"]), rnd.choice(["月结", "现款", "预付"])])
    write("采购订单.csv", ["采购单号", "下单日期", "供应商", "物料类别", "采购数量", "含税单价", "采购金额(元)", "采购员", "交货周期(天)", "到货状态", "付款条件"], rows)


def ask_repairs(q, d):
    d["t"] = pd.to_datetime(d["recv_dt"])
    q("How many repairs did we do in 2024?", numbers=[(d.t.dt.year == 2024).sum()])
    q("Which brand needs repair the most?", lead=d.brand.value_counts().index[0], numbers=[d.brand.value_counts().iloc[0]])
    q("average turnaround in days per technician", where="report", texts=d.technician.unique(), numbers=d.groupby("technician").turnaround_days.mean().values)
    q("How much did we charge for Battery jobs in total?", numbers=[d[d.fault == "Battery"].amt_charged.sum()])
    q("What share of jobs is under warranty?", numbers=[(d.under_warranty == "Y").mean()])
    q("most common fault", lead=d.fault.value_counts().index[0], numbers=[d.fault.value_counts().iloc[0]])
    q("Total parts cost by brand, highest first", where="report", texts=d.brand.unique(), numbers=d.groupby("brand").parts_cost.sum().values)
    q("How many mail-in jobs took longer than 10 days?", numbers=[((d.intake == "mail-in") & (d.turnaround_days > 10)).sum()])
    q("What's the average amount charged for Orange phones?", numbers=[d[d.brand == "Orange"].amt_charged.mean()])
    m = d[d.t.dt.year == 2024].groupby(d.t.dt.month).amt_charged.sum()
    q("monthly amount charged, 2024", where="report", numbers=m.values)
    q("Who fixed the most phones?", lead=d.technician.value_counts().index[0], numbers=[d.technician.value_counts().iloc[0]])
    q("各品牌的维修数量", where="report", texts=d.brand.unique(), numbers=d.brand.value_counts().values)
    q.no("Are customers happy with Sofia?")
    q.no("What phone should I buy?")
    q.no("How many phones were beyond repair?")


def ask_wells(q, d):
    d["t"] = pd.to_datetime(d["日期"])
    w = "供水量(吨)"
    q("2024年三个水厂一共供水多少吨？", numbers=[d[d.t.dt.year == 2024][w].sum()])
    q("哪个水厂的供水量最大", lead=d.groupby("水厂")[w].sum().idxmax(), numbers=[d.groupby("水厂")[w].sum().max()])
    q("平均浊度是多少", numbers=[d["浊度"].mean()])
    q("各水厂的耗电量", where="report", texts=d["水厂"].unique(), numbers=d.groupby("水厂")["耗电量(度)"].sum().values)
    q("不达标的有几天", numbers=[(d["水质"] == "不达标").sum()])
    q("水质达标率", numbers=[(d["水质"] == "达标").mean()])
    q("每吨水耗电多少度", numbers=[d["耗电量(度)"].sum() / d[w].sum()])
    q("南山水厂2023年四季度的供水总量", numbers=[d[(d["水厂"] == "南山水厂") & (d.t.dt.year == 2023) & (d.t.dt.quarter == 4)][w].sum()])
    m = d[d.t.dt.year == 2024].groupby(d.t.dt.month)[w].sum()
    q("2024年每月供水量走势", where="report", numbers=m.values)
    q("地下水和地表水的供水量各是多少", where="report", numbers=d.groupby("水源")[w].sum().values)
    q("哪个班组值班时浊度最高（平均）", lead=d.groupby("值班班组")["浊度"].mean().idxmax(), numbers=[d.groupby("值班班组")["浊度"].mean().max()])
    q("药剂用量合计", numbers=[d["药剂用量(公斤)"].sum()])
    q.no("水费一吨多少钱？")
    q.no("管网漏损率是多少")
    q.no("要不要新建一个水厂？")


def ask_events(q, d):
    d["t"] = pd.to_datetime(d["EventDate"])
    q("How many events did we host in 2023?", numbers=[(d.t.dt.year == 2023).sum()])
    q("Ticket revenue by venue", where="report", texts=d.Venue.unique(), numbers=d.groupby("Venue").TicketRevenue.sum().values)
    q("Which type of event sells the most tickets?", lead=d.groupby("EventType").TicketsSold.sum().idxmax(), numbers=[d.groupby("EventType").TicketsSold.sum().max()])
    q("What's the average rating of comedy nights?", numbers=[d[d.EventType == "Comedy"].AvgRating.mean()])
    q("How many events were sold out?", numbers=[(d.Status == "Sold out").sum()])
    q("tickets sold as a share of capacity", numbers=[d.TicketsSold.sum() / d.Capacity.sum()])
    q("Total staff cost at the Arena", numbers=[d[d.Venue == "Arena"].StaffCost.sum()])
    b = d.loc[d.TicketRevenue.idxmax()]
    q("Which event earned the most ticket revenue?", where="report", numbers=[b.TicketRevenue])
    q("average ticket price by event type", where="report", texts=d.EventType.unique(), numbers=d.groupby("EventType").TicketPrice.mean().values)
    q("revenue per quarter", where="report", numbers=d.groupby(d.t.dt.to_period("Q")).TicketRevenue.sum().values)
    q("What percentage of events got postponed?", numbers=[(d.Status == "Postponed").mean()])
    q("各场馆的活动数量", where="report", texts=d.Venue.unique(), numbers=d.Venue.value_counts().values)
    q.no("Which band should we invite?")
    q.no("How many parking spaces does Old Mill have?")
    q.no("Why are workshops less popular?")


def ask_purchase(q, d):
    d["t"] = pd.to_datetime(d["下单日期"])
    a = "采购金额(元)"
    s = d.groupby("供应商")[a].sum().sort_values(ascending=False)
    q("哪家供应商的采购金额最高？", lead=s.index[0], numbers=[s.iloc[0]])
    q("2024年采购总额是多少", numbers=[d[d.t.dt.year == 2024][a].sum()])
    q("各物料类别的采购数量", where="report", texts=d["物料类别"].unique(), numbers=d.groupby("物料类别")["采购数量"].sum().values)
    q("平均交货周期是几天", numbers=[d["交货周期(天)"].mean()])
    q("交货最慢的供应商是谁（按平均交货周期）", lead=d.groupby("供应商")["交货周期(天)"].mean().idxmax(), numbers=[d.groupby("供应商")["交货周期(天)"].mean().max()])
    q("退货的采购单有多少张？", numbers=[(d["到货状态"] == "已退货").sum()])
    q("张磊经手的采购金额", numbers=[d[d["采购员"] == "张磊"][a].sum()])
    q("月结付款的订单占比", numbers=[(d["付款条件"] == "月结").mean()])
    q("还在运输中的订单有多少", numbers=[(d["到货状态"] == "运输中").sum()])
    q("金额前五的采购单", where="report", lead=d.sort_values(a, ascending=False)["采购单号"].iloc[0], numbers=d[a].nlargest(5).values)
    q("恒达五金和绿源包装的采购额对比", where="report", numbers=[s["恒达五金"], s["绿源包装"]])
    m = d[d.t.dt.year == 2023].groupby(d.t.dt.month)[a].sum()
    q("2023年采购金额最高的月份", lead=f"2023-{m.idxmax():02d}", numbers=[m.max()])
    q.no("哪家供应商的质量最好？")
    q.no("原材料明年会涨价吗？")
    q.no("仓库里还剩多少库存")


ALL = [repairs, wells, events, purchase]
ASK = {"phone_repairs.csv": ask_repairs, "供水日报.csv": ask_wells, "venue_events.csv": ask_events, "采购订单.csv": ask_purchase}
