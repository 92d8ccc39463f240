export const language = 'en';

/** Every sentence that pages share. The page puts a node in place of each name in braces. */
export const words = {
  today: 'today at {time}',
  tomorrow: 'tomorrow at {time}',
  tryAgain: 'Try again',
  canTryAgain: 'You can try again now.',
  limits: {
    onlyIf: 'With {tool}, only if:',
    argument: '{path}: {text}',
    nothingElse: 'Nothing else may be passed on.',
    anythingElse: 'Careful: anything else may be passed on.',
  },
  support: 'For support: {id}',
};
