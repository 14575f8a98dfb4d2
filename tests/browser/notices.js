// The browser's border: a system that takes notices, and a reader who looks elsewhere.
window.told = [];
class Notice { constructor(title, options) { window.told.push([title, options.body]); } close() {} }
Notice.permission = "default";
Notice.requestPermission = async () => (Notice.permission = "granted");
window.Notification = Notice;
document.hasFocus = () => false;
