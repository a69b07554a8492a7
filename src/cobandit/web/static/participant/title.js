// The heading of an episode.

/**
 * "Part 1 of 2", "Casino 7 of 50", or what the kind of task calls it.
 * @param {Texts} texts
 * @param {State} state
 */
export function episodeTitle(texts, state) {
  const { practice, set, sets, episode, episodes } = state.episode;
  const kind = texts.knows(`episode.${state.task.kind}.one`) ? state.task.kind : "grid";
  if (practice) return texts.say(`episode.${kind}.trial`);
  if (episodes > 1) return texts.say(`episode.${kind}.many`, {
    set, sets, episode, episodes, number: (set - 1) * episodes + episode, total: sets * episodes,
  });
  return sets > 1 ? texts.say("episode.part", { set, sets }) : texts.say(`episode.${kind}.one`);
}
