/** The words of the share dialog, loaded with it. */
export const words = {
  zh: {
    title: "分享这个回答", about: "拿到链接的人不用登录就能看到这个问题和它的回答（现在的样子），看不到别的。", days: "有效天数", sources: "也给出数字背后的语句和代码",
    make: "生成链接", made: "链接只显示这一次，请现在复制：", copy: "复制链接", links: "这个对话的链接", none: "还没有链接。", until: "到 {date}", views: "看过 {count} 次", revoke: "撤销", revoked: "链接已撤销",
  },
  en: {
    title: "Share this answer", about: "Whoever has the link sees this question and its answer as they are now, without signing in, and nothing else.", days: "Days", sources: "Show the statements and code behind the figures too",
    make: "Make a link", made: "The link is shown this once; copy it now:", copy: "Copy the link", links: "Links of this conversation", none: "No links yet.", until: "until {date}", views: "seen {count}×", revoke: "Revoke", revoked: "The link is revoked",
  },
};
