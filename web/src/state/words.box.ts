// The texts of the report about an agent's reach, in both languages. They are fetched with the
// report.

import { computed } from "@preact/signals";
import { lang } from "./prefs";

const en = {
  looking: "Checking what the agent can reach…",
  reads: "Reads",
  writes: "Writes",
  network: "Network",
  secrets: "Secrets",
  nothing: "nothing",
  here: "its directory",
  places: {
    "the system's programs": "the system's programs",
    "everything else that the user can read": "everything else its user can read",
    "everything else that the user can write": "everything else its user can write",
    "this machine": "this machine",
    "every host that this machine reaches": "every other machine",
  } as Record<string, string>,
  /** The findings of each check, with and without the limit. */
  checks: {
    api_key: ["The API key stays with the server", "The agent can read a login or the key"],
    environment: ["No variable looks like a secret", "Some variables look like secrets"],
    login_files: ["No file with a login can be read", "Files with a login can be read"],
    box: ["The sandbox was tested from inside", "The sandbox could not be tested from inside"],
    processes: ["Processes outside are hidden", "Processes outside are visible"],
    sockets: ["Sockets of the machine cannot be reached", "Sockets of the machine can be reached"],
    sandbox: ["The agent confines its commands", "The agent does not confine its commands"],
    sandbox_escape: ["Commands cannot leave this sandbox", "Commands can leave this sandbox"],
    permissions: ["Tools that change something ask first", "Some tools run without asking"],
    server_data: ["The server's data cannot be changed", "The server's data can be changed"],
    network: ["The network is limited", "Other machines can be reached"],
  } as Record<string, readonly [string, string]>,
};

const zh: typeof en = {
  looking: "正在检查代理的可及范围…",
  reads: "可读",
  writes: "可写",
  network: "网络",
  secrets: "机密",
  nothing: "无",
  here: "其目录",
  places: {
    "the system's programs": "系统程序",
    "everything else that the user can read": "其用户可读的一切",
    "everything else that the user can write": "其用户可写的一切",
    "this machine": "本机",
    "every host that this machine reaches": "所有其他机器",
  },
  checks: {
    api_key: ["API 密钥留在服务器", "代理可读取登录信息或密钥"],
    environment: ["没有疑似机密的变量", "有疑似机密的变量"],
    login_files: ["读不到含登录信息的文件", "可读到含登录信息的文件"],
    box: ["已从沙箱内部验证", "未能从沙箱内部验证"],
    processes: ["看不到外部进程", "可看到外部进程"],
    sockets: ["连不上本机套接字", "可连接本机套接字"],
    sandbox: ["代理限制其命令", "代理不限制其命令"],
    sandbox_escape: ["没有命令能越过限制", "命令可越过限制"],
    permissions: ["会改动内容的工具先询问", "有工具无需询问即可运行"],
    server_data: ["无法更改服务器数据", "可更改服务器数据"],
    network: ["网络受限", "可访问其他机器"],
  },
};

export const found = computed(() => (lang.value === "zh" ? zh : en));
