// An entry of its own, because the parser of YAML is as large as half of the enforcement.
export { manifestFromYamlText } from '@behest/protocol/manifest/yaml-text';
