// What is being done with which layer, in the words of the study.

/** Going home and the end are worth no words. */
const SAID = ["pick", "place", "person", "retry"];

/**
 * @param {{ state: State, texts: Texts }} app
 * @param {{ action?: string, item: string, by: string }} event
 */
export function caption({ state, texts }, { action = "place", item, by }) {
  if (!SAID.includes(action)) return "";
  return texts.say(by === "robot" ? "robot.adds" : "robot.person", {
    item: itemName({ state, texts }, item), partner: texts.own("task.partner"), participant: texts.own("task.participant"),
  });
}

/**
 * A layer as the design calls it.
 * @param {{ state: State, texts: Texts }} app
 * @param {string} item
 */
export function itemName({ state, texts }, item) {
  const layers = (state.task.burgers ?? []).flatMap((burger) => burger.layers);
  const name = layers.find((layer) => layer.item === item)?.name;
  return name ?? texts.say(`robot.item.${item}`);
}
