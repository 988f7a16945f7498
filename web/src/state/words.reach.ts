// The texts about previews and push messages in both languages.

import { computed } from "@preact/signals";
import { lang } from "./prefs";

const en = {
  preview: "Preview",
  previewHint: "Opens the page of this process in a new tab.",
  previewOpen: (port: number) => `Open the preview of port ${port}`,
  previewAgain: "Look for servers again",
  push: "When the page is closed",
  pushStates: {
    unknown: "Not known yet",
    unsupported: "This browser does not support push messages",
    insecure: "Requires HTTPS, or a page on this machine",
    disabled: "The server was started without --push",
    blocked: "The browser blocks notifications of this page",
    off: "Off",
    on: "This browser gets a message for questions and finished turns",
  },
  pushOn: "Turn on",
  pushOff: "Turn off",
  pushTest: "Send a test",
  pushSent: "The push service accepted the message.",
  pushFailed: "The browser could not subscribe.",
};

const zh: typeof en = {
  preview: "预览",
  previewHint: "在单独的标签页中打开此进程的页面。",
  previewOpen: (port) => `打开端口 ${port} 的预览`,
  previewAgain: "重新查找服务",
  push: "页面关闭时",
  pushStates: {
    unknown: "尚不清楚",
    unsupported: "此浏览器不支持推送消息",
    insecure: "需要 HTTPS 页面，或在本机打开",
    disabled: "服务器启动时没有加 --push",
    blocked: "浏览器禁止了本页的通知",
    off: "已关闭",
    on: "有提问或一轮结束时通知此浏览器",
  },
  pushOn: "开启",
  pushOff: "关闭",
  pushTest: "发送测试",
  pushSent: "推送服务已接受消息。",
  pushFailed: "浏览器未能订阅。",
};

export const reach = computed(() => (lang.value === "zh" ? zh : en));
