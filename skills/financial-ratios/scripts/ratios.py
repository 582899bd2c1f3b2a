"""财务比率：偿债、营运、盈利、杜邦、Altman Z、现金流质量。缺少的项给 None 并说明，从不硬算。只定义函数。"""

# 输入用统一的键（元，或同一单位）；括号里是常见科目名。
KEYS = {
    "revenue": "营业收入", "cogs": "营业成本", "gross_profit": "毛利", "ebit": "息税前利润", "interest": "利息费用",
    "net_income": "净利润", "total_assets": "资产总计", "current_assets": "流动资产", "cash": "货币资金",
    "receivables": "应收账款", "inventory": "存货", "total_liabilities": "负债合计", "current_liabilities": "流动负债",
    "payables": "应付账款", "equity": "所有者权益", "retained_earnings": "留存收益", "market_value": "股权市值",
    "operating_cash_flow": "经营活动现金流净额", "capex": "资本支出",
}


def check(now):
    """先查表：资产 = 负债 + 权益，毛利 = 收入 - 成本，部分不大于整体。返回问题清单，空表示通过。"""
    problems = []

    def have(*keys):
        return all(now.get(k) is not None for k in keys)

    if have("total_assets", "total_liabilities", "equity"):
        gap = now["total_assets"] - now["total_liabilities"] - now["equity"]
        if abs(gap) > 0.005 * abs(now["total_assets"]):
            problems.append(f"资产不等于负债加权益，差 {gap:,.0f}")
    if have("revenue", "cogs", "gross_profit") and abs(now["revenue"] - now["cogs"] - now["gross_profit"]) > 0.005 * abs(now["revenue"]):
        problems.append("毛利不等于收入减成本")
    for part, whole in [("current_assets", "total_assets"), ("current_liabilities", "total_liabilities"), ("inventory", "current_assets"), ("cash", "current_assets")]:
        if have(part, whole) and now[part] > now[whole] * 1.005:
            problems.append(f"{KEYS[part]}大于{KEYS[whole]}")
    unknown = sorted(set(now) - set(KEYS))
    if unknown:
        problems.append(f"不认识的键: {', '.join(unknown)}")
    return problems


def ratios(now, before=None, days=365):
    """全部比率。给出上期时，营运与回报类用期初期末平均数（否则用期末数，并在“口径”里写明）。"""
    out = {}

    def get(key):
        if key == "gross_profit" and now.get(key) is None and now.get("revenue") is not None and now.get("cogs") is not None:
            return now["revenue"] - now["cogs"]
        return now.get(key)

    def average(key):
        value = now.get(key)
        old = (before or {}).get(key)
        return value if value is None or old is None else (value + old) / 2

    def put(name, top, bottom, scale=1.0):
        # 分母缺失、为零或为负时比率没有意义。
        out[name] = None if top is None or bottom is None or bottom <= 0 else scale * top / bottom

    quick = None if get("current_assets") is None or get("inventory") is None else get("current_assets") - get("inventory")
    put("流动比率", get("current_assets"), get("current_liabilities"))
    put("速动比率", quick, get("current_liabilities"))
    put("现金比率", get("cash"), get("current_liabilities"))
    put("资产负债率", get("total_liabilities"), get("total_assets"))
    put("利息保障倍数", get("ebit"), get("interest"))
    put("毛利率", get("gross_profit"), get("revenue"))
    put("净利率", get("net_income"), get("revenue"))
    put("总资产周转率", get("revenue"), average("total_assets"))
    put("权益乘数", average("total_assets"), average("equity"))
    put("ROA", get("net_income"), average("total_assets"))
    put("ROE", get("net_income"), average("equity"))
    put("应收账款周转天数", average("receivables"), get("revenue"), days)
    put("存货周转天数", average("inventory"), get("cogs"), days)
    put("应付账款周转天数", average("payables"), get("cogs"), days)
    cycle = [out["应收账款周转天数"], out["存货周转天数"], out["应付账款周转天数"]]
    out["现金转换周期"] = None if None in cycle else cycle[0] + cycle[1] - cycle[2]
    put("净现比", get("operating_cash_flow"), get("net_income"))
    ocf, capex = get("operating_cash_flow"), get("capex")
    out["自由现金流"] = None if ocf is None or capex is None else ocf - capex
    out["口径"] = "平均余额" if before else "期末余额"
    return out


def dupont(now, before=None):
    """杜邦三因素：ROE = 净利率 x 总资产周转率 x 权益乘数。给出两期时可用 change-attribution 的 multiplicative 归因。"""
    r = ratios(now, before)
    return {k: r[k] for k in ("净利率", "总资产周转率", "权益乘数", "ROE")}


def altman_z(now):
    """Altman Z（1968，上市制造业）。>2.99 安全，1.81–2.99 灰色，<1.81 困境。缺项返回 None。"""
    needed = ["current_assets", "current_liabilities", "total_assets", "retained_earnings", "ebit", "market_value", "total_liabilities", "revenue"]
    if any(now.get(k) is None for k in needed) or now["total_assets"] <= 0 or now["total_liabilities"] <= 0:
        return None
    assets = now["total_assets"]
    z = (1.2 * (now["current_assets"] - now["current_liabilities"]) / assets + 1.4 * now["retained_earnings"] / assets
         + 3.3 * now["ebit"] / assets + 0.6 * now["market_value"] / now["total_liabilities"] + 0.999 * now["revenue"] / assets)
    return {"Z": z, "判断": "安全" if z > 2.99 else ("灰色地带" if z >= 1.81 else "困境")}


def break_even(fixed_cost, price, variable_cost):
    """盈亏平衡销量与销售额。单位边际贡献不为正时没有平衡点。"""
    margin = price - variable_cost
    if margin <= 0:
        return None
    return {"销量": fixed_cost / margin, "销售额": fixed_cost / margin * price, "边际贡献率": margin / price}
