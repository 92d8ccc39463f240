export const changeOther = () => {};
