export const language = 'en';

/** Every sentence that pages share. What is in braces is put in as a node, wherever a language wants it. */
export const words = {
  today: 'today at {time}',
  tomorrow: 'tomorrow at {time}',
  tryAgain: 'Try again',
  canTryAgain: 'You can try again now.',
  support: 'For support: {id}',
};
