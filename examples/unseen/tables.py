"""The tables of the second evaluation set: twelve made-up businesses with the column names such files really have
(abbreviations, snake_case, camelCase, units in brackets, Chinese). Fixed seeds; writes into tables/.
"""
import csv
import datetime as dt
import random
from pathlib import Path

TABLES = Path(__file__).parent / "tables"


def write(name, header, rows):
    TABLES.mkdir(exist_ok=True)
    with open(TABLES / name, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def day(rnd, start, days):
    return start + dt.timedelta(rnd.randint(0, days - 1))


def shop_orders():
    rnd = random.Random(7101)
    price = {"Electronics": 180, "Home & Kitchen": 45, "Toys": 22, "Beauty": 18, "Sports": 60}
    rows = []
    for i in range(1, 901):
        cat = rnd.choices(list(price), [3, 4, 2, 3, 2])[0]
        qty, unit = rnd.randint(1, 5), round(price[cat] * rnd.lognormvariate(0, 0.35), 2)
        disc = rnd.choice([0, 0, 0, 5, 10, 15, 20])
        rows.append([f"SO-{i:05d}", day(rnd, dt.date(2023, 3, 1), 670).isoformat(), f"C{rnd.randint(1, 260):04d}", rnd.choice(["CA", "TX", "NY", "FL", "WA", "IL"]), cat, qty, unit, disc,
                     round(qty * unit * (1 - disc / 100), 2), round(rnd.uniform(0, 15), 2), rnd.choices(["credit card", "paypal", "gift card"], [6, 3, 1])[0], rnd.choice(["Y"] + ["N"] * 9)])
    write("shop_orders.csv", ["order_id", "ord_dt", "cust_id", "ship_state", "category", "qty", "unit_price", "disc_pct", "net_amt", "ship_cost", "pay_method", "is_returned"], rows)


def subscriptions():
    rnd = random.Random(7102)
    rows = []
    for i in range(1, 421):
        plan = rnd.choices(["Starter", "Growth", "Enterprise"], [5, 3, 1])[0]
        seats = max(1, int(rnd.gauss({"Starter": 4, "Growth": 18, "Enterprise": 90}[plan], 5)))
        start = day(rnd, dt.date(2022, 1, 1), 1000)
        churned = rnd.random() < {"Starter": 0.35, "Growth": 0.2, "Enterprise": 0.08}[plan]
        rows.append([f"Account {i:03d}", plan, rnd.choice(["Monthly", "Annual"]), seats, round(seats * {"Starter": 12, "Growth": 25, "Enterprise": 39}[plan] * rnd.uniform(0.85, 1.1), 2), start.isoformat(),
                     rnd.choice(["USA", "Germany", "Brazil", "Japan", "India"]), rnd.choice(["Retail", "Fintech", "Healthcare", "Education"]), rnd.choice(["Olivia", "Marcus", "Priya"]), "Churned" if churned else "Active"])
    write("saas_subscriptions.csv", ["Account Name", "Plan", "Billing Cycle", "Seats", "MRR (USD)", "Signup Date", "Country", "Industry", "Account Manager", "Status"], rows)


def meters():
    rnd = random.Random(7103)
    rows = []
    meters = [(f"M{i:03d}", rnd.choice(["居民", "商业", "工业"]), rnd.choice(["城东", "城西", "高新区", "开发区"])) for i in range(1, 41)]
    for year, month in [(2023, m) for m in range(1, 13)] + [(2024, m) for m in range(1, 11)]:
        for no, kind, area in meters:
            base = {"居民": 260, "商业": 1800, "工业": 9500}[kind] * (1.35 if month in (1, 7, 8, 12) else 1)
            use = round(base * rnd.lognormvariate(0, 0.25), 1)
            peak = round(use * rnd.uniform(0.5, 0.7), 1)
            rows.append([f"{year}-{month:02d}-{rnd.randint(25, 28)}", no, kind, area, use, peak, round(use - peak, 1), round(use * {"居民": 0.56, "商业": 0.82, "工业": 0.71}[kind], 2), "是" if rnd.random() < 0.03 else "否"])
    write("电表抄表.csv", ["抄表日期", "表号", "用户类型", "供电区域", "用电量(kWh)", "峰时电量(kWh)", "谷时电量(kWh)", "电费(元)", "是否异常"], rows)


def calls():
    rnd = random.Random(7104)
    rows = []
    for i in range(1, 1201):
        t = dt.datetime(2024, 1, 1, 8) + dt.timedelta(rnd.randint(0, 181), seconds=rnd.randint(0, 12 * 3600))
        queue = rnd.choices(["Billing", "Tech Support", "Sales", "Cancellations"], [4, 5, 2, 1])[0]
        rows.append([100000 + i, t.strftime("%Y-%m-%d %H:%M:%S"), rnd.choice(["Amy Wong", "Ben Ortiz", "Carla Rossi", "Dev Patel", "Ella Novak"]), queue, max(3, int(rnd.expovariate(1 / {"Billing": 70, "Tech Support": 120, "Sales": 30, "Cancellations": 95}[queue]))),
                     round(rnd.lognormvariate(1.6, 0.5), 1), rnd.choices(["Yes", "No"], [8, 2])[0], rnd.choice(["", 1, 2, 3, 4, 4, 5, 5]), rnd.choice(["phone", "phone", "callback"])])
    write("call_log.csv", ["CallID", "CallTime", "AgentName", "Queue", "WaitSec", "TalkMin", "Resolved", "CSAT", "Channel"], rows)


def freight():
    rnd = random.Random(7105)
    rows = []
    for i in range(1, 601):
        out = day(rnd, dt.date(2023, 1, 1), 700)
        line = rnd.choices(["中远海运", "马士基", "地中海航运", "长荣"], [4, 3, 2, 2])[0]
        box = rnd.choice(["20GP", "40GP", "40HQ"])
        n = rnd.randint(1, 12)
        late = max(0, int(rnd.gauss(2, 3)))
        rows.append([f"BL{i:06d}", rnd.choice(["上海", "宁波", "深圳", "青岛"]), rnd.choice(["洛杉矶", "汉堡", "鹿特丹", "新加坡", "悉尼"]), line, box, n, round(n * rnd.uniform(900, 3200) * (1 if box == "20GP" else 1.7)), out.strftime("%Y/%m/%d"), rnd.randint(9, 38), late, rnd.choices(["已到港", "在途", "已取消"], [8, 2, 1])[0]])
    write("海运订舱.csv", ["提单号", "起运港", "目的港", "船公司", "箱型", "箱量", "海运费_USD", "开船日", "航程_天", "延误天数", "状态"], rows)


def clinic():
    rnd = random.Random(7106)
    rows = []
    for i in range(1, 801):
        dept = rnd.choices(["内科", "外科", "儿科", "眼科", "口腔科"], [4, 2, 3, 1, 2])[0]
        drug, check = round(rnd.lognormvariate(4.6, 0.6), 2), round(rnd.lognormvariate(4.9, 0.8), 2)
        rows.append([f"MZ{i:05d}", day(rnd, dt.date(2024, 1, 1), 366).isoformat(), dept, rnd.choice(["张伟", "李娜", "王芳", "刘洋", "陈静", "赵磊"]), rnd.choice(["男", "女"]), rnd.randint(1, 14) if dept == "儿科" else rnd.randint(15, 88), rnd.choices(["职工医保", "居民医保", "自费"], [5, 4, 2])[0], drug, check, round(drug + check + 20, 2), max(1, int(rnd.gauss(25, 12))), rnd.choices(["初诊", "复诊"], [6, 4])[0]])
    write("门诊记录.csv", ["就诊号", "就诊日期", "科室", "接诊医生", "性别", "年龄", "医保类型", "药费", "检查费", "总费用", "候诊时长(分钟)", "就诊类型"], rows)


def hotels():
    rnd = random.Random(7107)
    rows = []
    for i in range(1, 701):
        room = rnd.choices(["Standard", "Deluxe", "Suite"], [6, 3, 1])[0]
        nights, rate = rnd.choices([1, 2, 3, 4, 5, 7, 10], [5, 6, 4, 2, 2, 1, 1])[0], round({"Standard": 95, "Deluxe": 150, "Suite": 290}[room] * rnd.uniform(0.8, 1.3), 2)
        arrival = day(rnd, dt.date(2023, 1, 1), 730)
        rows.append([f"BK{i:05d}", rnd.choice(["Grand Lisbon", "Porto Riverside", "Faro Beach"]), room, rnd.choices(["Booking.com", "Direct", "Expedia", "Corporate"], [5, 3, 2, 2])[0], arrival.isoformat(), nights, rnd.randint(1, 4), rate, round(nights * rate, 2), rnd.randint(0, 180), rnd.choices(["Checked out", "Cancelled", "No-show"], [15, 4, 1])[0], rnd.choice(["PT", "ES", "UK", "DE", "FR"])])
    write("hotel_bookings.csv", ["Booking Ref", "Hotel", "Room Type", "Booking Channel", "Arrival Date", "Nights", "Guests", "Rate per Night (EUR)", "Total (EUR)", "Lead Time (days)", "Booking Status", "Guest Country"], rows)


def hiring():
    rnd = random.Random(7108)
    rows = []
    for i in range(1, 501):
        stage = rnd.choices(["简历筛选", "初试", "复试", "Offer", "已入职", "已淘汰"], [6, 4, 2, 1, 2, 5])[0]
        job = rnd.choice(["Java开发", "产品经理", "数据分析师", "销售代表", "UI设计师"])
        rows.append([f"HX{i:04d}", job, rnd.choices(["BOSS直聘", "内推", "猎聘", "校园招聘"], [5, 3, 2, 2])[0], day(rnd, dt.date(2024, 1, 1), 300).isoformat(), stage, round(rnd.gauss({"Java开发": 25, "产品经理": 23, "数据分析师": 20, "销售代表": 12, "UI设计师": 17}[job], 4), 1), rnd.randint(0, 12), rnd.choice(["本科", "硕士", "大专"]), rnd.choice(["北京", "上海", "杭州", "成都"]), "" if stage == "简历筛选" else rnd.randint(50, 98)])
    write("招聘进展.csv", ["候选人编号", "应聘岗位", "招聘渠道", "投递日期", "当前阶段", "期望薪资(K)", "工作年限", "学历", "工作城市", "面试评分"], rows)


def receipts():
    rnd = random.Random(7109)
    menu = {"Margherita": ("Pizza", 11.5), "Diavola": ("Pizza", 13), "Carbonara": ("Pasta", 12.5), "Lasagne": ("Pasta", 13.5), "Tiramisu": ("Dessert", 6.5), "House Wine": ("Drinks", 5.5), "Espresso": ("Drinks", 2.5)}
    rows = []
    for i in range(1, 1001):
        item = rnd.choices(list(menu), [5, 3, 4, 3, 2, 5, 4])[0]
        cat, price = menu[item]
        n = rnd.choices([1, 2, 3, 4], [6, 3, 1, 1])[0]
        t = dt.datetime(2024, 4, 1) + dt.timedelta(rnd.randint(0, 120), hours=rnd.choice([12, 13, 18, 19, 20, 21]), minutes=rnd.randint(0, 59))
        rows.append([4000 + i, t.strftime("%Y-%m-%d %H:%M"), rnd.choice(["Downtown", "Harbor", "Airport"]), rnd.choice(["Lunch Crew", "Night Crew"]), item, cat, n, round(n * price, 2), round(n * price * rnd.choice([0, 0.05, 0.1, 0.15]), 2), rnd.choices(["Card", "Cash", "Voucher"], [7, 3, 1])[0]])
    write("pos_receipts.csv", ["rcpt_no", "ts", "loc", "crew", "item", "cat", "units", "gross_amt", "tip_amt", "tender"], rows)


def quality():
    rnd = random.Random(7110)
    rows, n = [], 0
    d = dt.date(2024, 1, 1)
    while d <= dt.date(2024, 9, 30):
        for line, bad in [("A线", 0.012), ("B线", 0.02), ("C线", 0.031)]:
            n += 1
            made = int(rnd.gauss(1500, 180))
            rows.append([f"P{n:05d}", d.strftime("%Y-%m-%d"), line, rnd.choice(["白班", "夜班"]), rnd.choice(["X100", "X200", "Z500"]), made, max(0, int(made * rnd.gauss(bad, 0.006))), rnd.choice([0, 0, 0, 5, 12, 20, 45, 90]), rnd.choice(["孙强", "周敏", "吴涛", "郑丽"]), round(made * rnd.uniform(3.1, 3.9), 1)])
        d += dt.timedelta(1)
    write("生产日报.csv", ["批次号", "生产日期", "产线", "班次", "产品型号", "产量(件)", "不良品数(件)", "停机时间_min", "班组长", "原料成本(元)"], rows)


def grades():
    rnd = random.Random(7111)
    rows = []
    for s in range(1, 101):
        grade, base, house = rnd.choice(["Year 9", "Year 10", "Year 11"]), rnd.gauss(70, 10), rnd.choice(["Oak", "Maple", "Willow"])
        for subject, shift in [("Math", -4), ("Physics", -6), ("English", 2), ("History", 3), ("Art", 7)]:
            rows.append([f"S{s:03d}", grade, house, subject, rnd.choice(["Fall 2023", "Spring 2024"]), max(12, min(100, round(base + rnd.gauss(shift, 8)))), rnd.randint(0, 9), {"Math": "Mr. Hill", "Physics": "Ms. Cole", "English": "Mrs. Byrd", "History": "Mr. Stone", "Art": "Ms. Vega"}[subject], rnd.choice(["yes", "no", "no"])])
    write("exam_scores.csv", ["student_id", "grade_level", "house", "subject", "term", "score", "absences", "teacher", "extra_tutoring"], rows)


def ads():
    rnd = random.Random(7112)
    rows = []
    d = dt.date(2024, 1, 1)
    while d <= dt.date(2024, 8, 31):
        for media, scale in [("抖音", 1.6), ("小红书", 1.0), ("微信朋友圈", 1.2), ("百度", 0.8)]:
            show = int(rnd.gauss(52000, 9000) * scale)
            click = int(show * rnd.uniform(0.012, 0.03))
            conv = int(click * rnd.uniform(0.02, 0.07))
            rows.append([d.strftime("%Y-%m-%d"), media, rnd.choice(["拉新", "复购", "品牌"]), show, click, round(click * rnd.uniform(0.9, 1.8), 2), conv, round(conv * rnd.uniform(90, 210), 2), rnd.choice(["陈晨", "林悦", "何平"])])
        d += dt.timedelta(2)
    write("广告投放.csv", ["投放日期", "媒体平台", "投放目标", "曝光量", "点击量", "消耗(元)", "转化数", "成交金额(元)", "优化师"], rows)


ALL = [shop_orders, subscriptions, meters, calls, freight, clinic, hotels, hiring, receipts, quality, grades, ads]
