#!/usr/bin/env python3
"""Makes the sample tables. Always the same ones: the seed is fixed and only the standard library is used.

Usage: python3 examples/generate.py [folder]
"""
import csv
import datetime
import random
import sys
from pathlib import Path

REGIONS = {
    "华东": (["上海", "杭州", "南京", "苏州"], 1.35), "华南": (["广州", "深圳", "厦门"], 1.15), "华北": (["北京", "天津", "石家庄"], 1.05),
    "华中": (["武汉", "长沙", "郑州"], 0.8), "西南": (["成都", "重庆", "昆明"], 0.75),
}
# category: products as (name, price, share of cost, weight)
PRODUCTS = {
    "电子产品": [("智能手机", 2999, 0.72, 5), ("笔记本电脑", 5699, 0.78, 2), ("无线耳机", 399, 0.55, 9), ("智能手表", 1299, 0.62, 4), ("平板电脑", 2399, 0.74, 3)],
    "家居用品": [("电饭煲", 359, 0.58, 6), ("吸尘器", 899, 0.61, 3), ("床上四件套", 269, 0.5, 7), ("台灯", 129, 0.48, 8)],
    "服装": [("羽绒服", 699, 0.52, 4), ("运动鞋", 459, 0.5, 8), ("T恤", 89, 0.42, 14), ("牛仔裤", 199, 0.46, 9)],
    "食品": [("坚果礼盒", 128, 0.6, 10), ("咖啡豆", 98, 0.55, 9), ("茶叶", 168, 0.5, 6), ("巧克力", 66, 0.57, 9)],
}
CHANNELS = ["线上商城", "直播", "门店", "分销"]
SEASON = [0.95, 0.8, 0.92, 0.95, 1.02, 1.18, 0.9, 0.93, 1.02, 1.08, 1.45, 1.2]


def retail(out):
    rnd = random.Random(20240601)
    items = [(c, *p) for c, ps in PRODUCTS.items() for p in ps]
    rows, number = [], 100001
    day = datetime.date(2023, 1, 1)
    while day <= datetime.date(2024, 12, 31):
        age = (day - datetime.date(2023, 1, 1)).days / 365
        pace = 13.5 * SEASON[day.month - 1] * (1 + 0.16 * age) * (1.25 if day.weekday() >= 5 else 0.93)
        for _ in range(max(1, int(rnd.gauss(pace, pace ** 0.5)))):
            region = rnd.choices(list(REGIONS), [r[1] for r in REGIONS.values()])[0]
            category, product, price, cost, _ = rnd.choices(items, [i[4] * (1.8 if i[1] == "羽绒服" and day.month in (11, 12, 1) else 1) for i in items])[0]
            quantity = rnd.choices([1, 2, 3, 4, 5, 10], [58, 22, 9, 5, 4, 2])[0]
            discount = rnd.choices([0, 0.05, 0.1, 0.15, 0.2, 0.3], [46, 16, 16, 9, 8, 5])[0]
            if day.month in (6, 11):
                discount = max(discount, rnd.choice([0, 0.05, 0.1]))
            amount = round(price * quantity * (1 - discount), 2)
            profit = round(amount - price * cost * quantity, 2)
            returned = rnd.random() < {"电子产品": 0.05, "家居用品": 0.04, "服装": 0.11, "食品": 0.015}[category]
            customer = f"C{int(rnd.paretovariate(1.1) * 37) % 1800 + 1:04d}"
            rating = rnd.choices(["", 5, 4, 3, 2, 1], [12, 45, 25, 10, 4, 4])[0]
            if returned and rating:
                rating = rnd.choice([1, 2, 3])
            rows.append([f"SO{number}", day.isoformat(), region, rnd.choice(REGIONS[region][0]), category, product, customer,
                         rnd.choices(CHANNELS, [45, 20, 25, 10])[0], price, quantity, discount, amount, profit, "是" if returned else "否", rating])
            number += 1
        day += datetime.timedelta(1)
    write(out / "retail.csv", ["订单号", "订单日期", "地区", "城市", "产品类别", "产品", "客户ID", "渠道", "单价", "数量", "折扣", "销售额", "利润", "是否退货", "评分"], rows)


def hr(out):
    rnd = random.Random(11)
    departments = {"Engineering": 26000, "Sales": 17000, "Marketing": 16500, "Finance": 19000, "Operations": 14000, "Customer Support": 11500}
    levels = {"Junior": 0.75, "Middle": 1.0, "Senior": 1.35, "Manager": 1.7}
    first = ["Li", "Wang", "Zhang", "Liu", "Chen", "Yang", "Zhao", "Huang", "Zhou", "Wu", "Smith", "Garcia", "Khan", "Silva"]
    second = ["Wei", "Fang", "Min", "Jing", "Lei", "Yan", "Tao", "Na", "Qiang", "Hui", "Anna", "Peter", "Maria", "David"]
    rows = []
    for i in range(1, 421):
        department = rnd.choices(list(departments), [30, 24, 12, 10, 14, 16])[0]
        level = rnd.choices(list(levels), [34, 38, 20, 8])[0]
        age = min(60, max(21, int(rnd.gauss({"Junior": 26, "Middle": 32, "Senior": 38, "Manager": 43}[level], 4))))
        hired = datetime.date(2016, 1, 1) + datetime.timedelta(int(rnd.random() ** 0.6 * 3280))
        salary = round(departments[department] * levels[level] * rnd.gauss(1, 0.12) / 100) * 100
        score = round(min(5, max(1, rnd.gauss(3.5, 0.7))), 1)
        left = rnd.random() < (0.24 if score < 3 else 0.12) * (1.5 if department in ("Sales", "Customer Support") else 0.9)
        rows.append([f"E{i:04d}", f"{rnd.choice(first)} {rnd.choice(second)} {i}", department, level, rnd.choice(["Male", "Female"]), age,
                     rnd.choices(["Bachelor", "Master", "PhD", "College"], [55, 28, 4, 13])[0], hired.isoformat(), salary, score if rnd.random() > 0.05 else "",
                     rnd.choices([0, 1, 2, 3, 5, 8, 12], [40, 20, 14, 10, 8, 5, 3])[0], "Yes" if left else "No"])
    write(out / "hr.csv", ["employee_id", "name", "department", "job_level", "gender", "age", "education", "hire_date", "monthly_salary", "performance_score", "absence_days", "attrition"], rows)


def funnel(out):
    rnd = random.Random(5)
    channels = {"Organic Search": (900, 1.0), "Paid Ads": (700, 0.8), "Social Media": (520, 0.6), "Email": (240, 1.7), "Direct": (410, 1.2)}
    devices = {"Mobile": (0.6, 0.85), "Desktop": (0.34, 1.25), "Tablet": (0.06, 1.0)}
    rows, day = [], datetime.date(2024, 1, 1)
    while day <= datetime.date(2024, 6, 30):
        t = (day - datetime.date(2024, 1, 1)).days
        for channel, (base, quality) in channels.items():
            for device, (part, ease) in devices.items():
                visits = max(3, int(base * part * (1 + t / 600) * (0.85 if day.weekday() >= 5 else 1.05) * rnd.gauss(1, 0.08)))
                signups = int(visits * 0.11 * quality * rnd.gauss(1, 0.1))
                carts = int(visits * 0.085 * quality * ease * rnd.gauss(1, 0.1))
                checkouts = int(carts * 0.55 * rnd.gauss(1, 0.06))
                purchases = min(checkouts, int(checkouts * 0.72 * ease ** 0.5 * rnd.gauss(1, 0.05)))
                cost = round(visits * {"Paid Ads": 1.9, "Social Media": 0.7, "Email": 0.1}.get(channel, 0), 2)
                rows.append([day.isoformat(), channel, device, visits, max(0, signups), max(0, carts), max(0, checkouts), max(0, purchases), round(max(0, purchases) * abs(rnd.gauss(240, 30)), 2), cost])
        day += datetime.timedelta(1)
    write(out / "web_funnel.csv", ["date", "channel", "device", "visits", "signups", "add_to_cart", "checkouts", "purchases", "revenue", "ad_cost"], rows)


RETAIL_EN = dict(zip(
    "订单号 订单日期 地区 城市 产品类别 产品 客户ID 渠道 单价 数量 折扣 销售额 利润 是否退货 评分 是 否 华东 华南 华北 华中 西南".split(),
    "order_no,order_date,region,city,category,product,customer_id,channel,unit_price,quantity,discount,sales,profit,returned,rating,Yes,No,"
    "East China,South China,North China,Central China,Southwest".split(",")))
RETAIL_EN |= dict(zip(
    "上海 杭州 南京 苏州 广州 深圳 厦门 北京 天津 石家庄 武汉 长沙 郑州 成都 重庆 昆明 线上商城 直播 门店 分销 电子产品 家居用品 服装 食品".split(),
    "Shanghai,Hangzhou,Nanjing,Suzhou,Guangzhou,Shenzhen,Xiamen,Beijing,Tianjin,Shijiazhuang,Wuhan,Changsha,Zhengzhou,Chengdu,Chongqing,Kunming,"
    "Online Store,Livestream,Shop,Resellers,Electronics,Home,Clothing,Food".split(",")))
RETAIL_EN |= dict(zip(
    "智能手机 笔记本电脑 无线耳机 智能手表 平板电脑 电饭煲 吸尘器 床上四件套 台灯 羽绒服 运动鞋 T恤 牛仔裤 坚果礼盒 咖啡豆 茶叶 巧克力".split(),
    "Smartphone,Laptop,Wireless Earbuds,Smart Watch,Tablet,Rice Cooker,Vacuum Cleaner,Bedding Set,Desk Lamp,Down Jacket,Sneakers,T-Shirt,Jeans,"
    "Nut Gift Box,Coffee Beans,Tea,Chocolate".split(",")))
HR_ZH = dict(zip(
    "employee_id,name,department,job_level,gender,age,education,hire_date,monthly_salary,performance_score,absence_days,attrition,Engineering,Sales,"
    "Marketing,Finance,Operations,Customer Support,Junior,Middle,Senior,Manager,Male,Female,Bachelor,Master,PhD,College,Yes,No".split(","),
    "工号 姓名 部门 级别 性别 年龄 学历 入职日期 月薪 绩效评分 缺勤天数 是否离职 研发 销售 市场 财务 运营 客服 初级 中级 高级 经理 男 女 本科 硕士 博士 大专 是 否".split()))
FUNNEL_ZH = dict(zip(
    "date,channel,device,visits,signups,add_to_cart,checkouts,purchases,revenue,ad_cost,Organic Search,Paid Ads,Social Media,Email,Direct,Mobile,"
    "Desktop,Tablet".split(","),
    "日期 渠道 设备 访问量 注册数 加购数 结账数 购买数 收入 广告费 自然搜索 付费广告 社交媒体 邮件 直接访问 手机 电脑 平板".split()))
OTHER_LANGUAGE = {"retail": ("retail_en", RETAIL_EN), "hr": ("hr_zh", HR_ZH), "web_funnel": ("web_funnel_zh", FUNNEL_ZH)}


def write(path, header, rows):
    """The table, and the same in the other language."""
    save(path, header, rows)
    name, words = OTHER_LANGUAGE[path.stem]
    save(path.with_stem(name), [words[h] for h in header], [[words.get(v, v) for v in row] for row in rows])


def save(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)
    print(f"{path.name}: {len(rows)} rows, {path.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for make in (retail, hr, funnel):
        make(folder)
