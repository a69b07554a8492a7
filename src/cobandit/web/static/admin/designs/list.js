// All drafts, and the ways to begin one.

import { find, post, problem } from "../common.js";
import { ROOT } from "../../shared/root.js";

/**
 * @param {string} id
 * @param {() => Promise<object> | object} body
 */
function begin(id, body) {
  const form = find(id);
  form?.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    problem(form, null);
    try {
      const { id: number } = await post(`${ROOT}/api/admin/designs`, await body());
      location.assign(`${ROOT}/admin/designs/${number}`);
    } catch (error) {
      problem(form, error);
    }
  });
}

begin("template-form", () => ({ name: find("template-name").value, template: find("template").value }));
begin("study-form", () => ({ study: Number(find("study").value) }));
begin("file-form", async () => ({ text: await find("file").files[0].text() }));
