// Puts the live chart in place of its picture; where that fails, the picture stays.
(() => {
  "use strict";
  const text = "#3c4350", line = "#d5dae1";
  const axis = { axisLine: { lineStyle: { color: line } }, axisTick: { lineStyle: { color: line } }, axisLabel: { color: text }, splitLine: { lineStyle: { color: line, opacity: 0.6 } }, nameTextStyle: { color: text } };
  const font = getComputedStyle(document.body).fontFamily;
  const theme = {
    color: ["#2f6fde", "#e8833a", "#1f9e89", "#b5539c", "#c9a227", "#5b8fb9", "#7d6bc4", "#8a8f98"], backgroundColor: "transparent", textStyle: { color: text, fontFamily: font },
    title: { textStyle: { color: text, fontSize: 15, fontWeight: 600 }, subtextStyle: { color: text } }, legend: { textStyle: { color: text } },
    grid: { left: 12, right: 24, containLabel: true }, categoryAxis: axis, valueAxis: axis, timeAxis: axis, logAxis: axis,
  };
  const below = ["grid", "legend", "dataZoom", "visualMap", "timeline", "toolbox"];
  const options = JSON.parse(document.getElementById("options").textContent);
  for (const [number, given] of Object.entries(options)) {
    const box = document.getElementById(`chart-${number}`);
    const still = box.parentElement.querySelector(".still");
    try {
      const option = "xAxis" in given && !below.some((name) => name in given) ? { ...given, grid: { bottom: 10 } } : given;
      // A tooltip as text, never as HTML of the report.
      const tooltip = { trigger: "xAxis" in option ? "axis" : "item", ...(Array.isArray(option.tooltip) ? option.tooltip[0] : option.tooltip), renderMode: "richText" };
      box.hidden = false;
      const chart = echarts.init(box, theme, { renderer: "svg" });
      chart.setOption({ ...option, tooltip, animationDuration: 150 });
      new ResizeObserver(() => chart.resize()).observe(box);
      still.hidden = true;
      box.parentElement.classList.add("drawn");
    } catch {
      box.hidden = true;
      still.hidden = false;
    }
  }
})();
