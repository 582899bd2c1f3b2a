/** Words in headers, English and Chinese, that tell what a column holds. English ones are whole words, Chinese ones may be part of a longer word. */

/** `order_date`, `orderDate` and `Order Date` are the same words; a space on both ends, so that whole words can be looked for. */
export const wordsOf = (name: string): string =>
  ` ${name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .replace(/[^a-z0-9一-鿿%#$€£¥/]+/g, " ")
    .trim()} `;

const list = (words: string) => words.trim().split(/\s+/).join("|").replaceAll("_", " ");
const named = (english: string, chinese: string) => new RegExp(` (?:${list(english)}) |${list(chinese)}`);

export const NUMBERED = named(
  `id ids no nr num number code key ref sku uuid tag barcode plate phone mobile tel zip postcode index rank lat lon lng latitude longitude`,
  `_# 号_$ 编号 编码 代码 序号 单号 卡号 电话 手机 邮编 身份证 账号 经度 纬度 条码 排名 [一-鿿]id_$ ^_id[一-鿿]`,
);
export const CALENDAR = named(`year year_built month day hour week weekday quarter fy`, `年份 年度 月份 ^_[年月日周]_$ 星期 季度 时段`);
export const REMARK = named(
  `note notes remark remarks comment comments description memo url email address title`,
  `备注 说明 描述 评论 地址 邮箱 链接 摘要 内容 原因`,
);

/** A total whatever else the name says: `Total Price`, 成交总价. */
export const TOTAL = named(`total amount amt revenue sales`, `总(?!体) 合计`);
/** Prices, shares and scores: their mean says more than their sum. */
export const PER_UNIT = named(
  `price rate unit each per avg average mean daily salary wage score rating csat nps pct percent ratio share margin abv brix temp temperature grade`,
  `[%/] 单价 均价 零售价 批发价 价格 原价 售价 比例 比率 率 占比 平均 均 评分 得分 分数 成绩 满意度 薪 工资 折扣 温度 浓度 浊度 面积 月租`,
);
/** How long, old or far something is. */
export const SPAN = named(
  `days? secs? seconds mins? minutes time hrs duration delay tenure years? yrs months? age length distance resolution response turnaround`,
  `时长 用时 耗时 年限 年龄 工龄 月龄 账期 片长 周期 天数 里程`,
);
export const SPAN_UNIT = /[(（](?:天|日|分钟|分|秒|小时|月|年)[)）]/;

/** What a table is about, the likeliest first: takings, totals, other money, what was spent or gained, pieces. */
export const FIGURES: readonly RegExp[] = [
  named(`revenue sales turnover takings gmv box_office`, `销售额 营业额 营收 成交金?额 门票收入`),
  named(`total net_amt net_amount amount_paid amt_charged`, `总(?:金?额|价|费|收入) 合计 订单金额 实[付收]`),
  named(`amount amt income mrr arr premium invoice bill charge fees? value salary wage rent`, `金额 收入 货款 保费 电费 薪 工资 租金 额(?!度)`),
  named(`profit costs? spend expenses? labour freight usd eur gbp cny rmb`, `利润 毛利 费 成本 消耗 花费 支出 [$€£¥]`),
  named(`qty quantity units volume visits orders tickets count guests passengers weight kg hours downloads`, `量 件数 人数 次数 笔数`),
];
/** Sides of the matter: what was planned, taken off, lost or is still owed. */
export const LESS = named(
  `discounts? tax tips? refunds? shipping deposit balance late fine expected planned budget target limit capacity term lead due requested expiring`,
  `优惠 减免 税 退款 退货 押金 定金 欠 计划 预算 目标 期望 容量 报损 报废 弃`,
);

/** What people group by, the likeliest first. */
export const CATEGORIES: readonly RegExp[] = [
  named(
    `region channel category cat department dept store branch outlet segment plan queue venue depot hall`,
    `地区 区域 大区 片区 省 渠道 类别 品类 分类 门店 店铺 部门 科室 平台 产线 车间`,
  ),
  named(
    `country state city product item type genre style brand supplier customer client industry service team agent owner rep show hotel program material source format species machine`,
    `城市 产品 商品 品种 类型 险种 项目 客户 供应商 业务员 班组 团队 电站 水厂 装置`,
  ),
];
export const WEAK_CATEGORY = named(
  `status gender sex method unit currency weather tender payment paid shade size`,
  `状态 性别 单位 币种 天气 支付方式 付款 班次 颜色 尺码 甜度 学历 评级 等级`,
);
export const FLAG = /^(?:是否|有无|已)|\?$|^(?:is|has)[_ A-Z]/;
export const YES_OR_NO = /^(?:是|否|有|无|yes|no|y|n|true|false|[01])$/i;

/** Dates that belong to a thing and not to what happened: nobody asks for a salary by the month of hiring. */
export const DATE_OF_A_THING = named(
  `birth birthday dob born hired? joined founded launch launched expiry expires due since install installed`,
  `出生 生日 入职 成立 上市 开业 到期 截止 有效期`,
);
