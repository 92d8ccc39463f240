export {
  callerOfReceiver,
  isReceiverId,
  issueReceiverToken,
  provedReceiver,
  revokeReceiverToken,
  unknownReceiver,
} from './transmitter.tokens.service.ts';
