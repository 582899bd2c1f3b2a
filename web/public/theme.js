// Runs before the first paint, so that a chosen theme never flashes the other one.
try {
  var theme = JSON.parse(localStorage.getItem("ba.prefs") || "{}").theme;
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch (_) {
  // No storage (private mode): the system's theme stays.
}
