// 中文：首页与新会话页面。

import type { newEn } from "./words.new.en";

export const newZh: typeof newEn = {
  home: {
    title: "首页",
    working: "进行中",
    done: "已完成",
    nothingWorks: "没有进行中的工作。",
    nothingDone: "今天没有完成的工作。",
    tooLong: "内容太长，无法在此显示",
    turns: (k) => `${k} 轮`,
  },
  turnsCol: "轮次",
  deleteDo: "删除",
  deleteTitle: "删除此会话？",
  deleteText: "会话内容会被删除，文件保持不变。",
  deleted: "已删除。",
  askSimulated: "问模拟代理任何问题",
  startSession: "开始会话",
  tries: {
    permission: {
      title: "看它请求权限",
      note: "一条需要你许可的命令",
      prompt: "tool Bash",
    },
    change: { title: "看它改动文件", note: "改动之前先看差异", prompt: "tool Edit" },
    question: { title: "看它提问", note: "带预览的多个选项", prompt: "ask me a question" },
  },
  notFound: "未找到",
  noRealAgent: "没有安装代理",
  checkAgain: "再次检查",
  noRealNote: "安装一个并登录，然后重新启动服务器。",
  agentMissing: (agent) => `${agent} 无法启动`,
  useAgent: (agent) => `使用 ${agent}`,
  chooseProject: "项目",
  findFolder: "查找文件夹",
  recentProjects: "最近",
  folders: "文件夹",
  notGit: "不是 git 仓库",
  foldersBelow: (roots) => `${roots} 下的文件夹`,
  noFolder: (query, roots) => `${roots} 下没有名为“${query}”的文件夹。`,
  recentIn: (project) => `${project} 的最近会话`,
  ofProject: "来自项目",
  noBranch: "无分支",
  newPlaceholder: "要代理做什么？@ 引用文件，/ 运行命令。",
};
