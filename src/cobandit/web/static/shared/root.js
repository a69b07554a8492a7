// Where the server is: it may be below a path of its host.

/** The path before /static, /api, /s and so on: "" or, for example, "/lab". */
export const ROOT = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
