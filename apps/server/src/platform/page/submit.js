/** Presses the button of a page whose only form continues what the person began. */
document.querySelector('form')?.requestSubmit();
