import type { LanguagePhrases } from './language-phrases.ts';

export const es: LanguagePhrases = {
  lexicons: {
    greeting: `
      que haces; como va|vas; como le|te va; como esta|estas; alo; que gusto|alegria saludar*|oir*|escuchar*; que hubo; buenas buenas;
      hola; buenos dias; buen dia; buenas (tardes|noches|dias); buenas; muy buenas|buenos; bienvenido|bienvenida|
      bienvenidos; saludos; le saluda; gracias por llamar|comunicarse|contactar|su llamada; es un placer|gusto
      saludar*|atender*; mucho gusto; encantado|encantada de saludar*; que tal
    `,
    introduction: `
      me llamo; mi nombre es; le habla|atiende|saluda|asiste; le [estoy] atiende|hablando; habla .. de|con|desde;
      soy; se ha comunicado|contactado [con]; se comunico con; usted se comunica; se comunica con; esta [usted]
      hablando con; le llamo|hablo|contacto .. de|desde|del; llamo de|desde|del; llamo en nombre; llamo por parte;
      atencion al cliente; servicio al|de cliente|clientes|atencion; servicio tecnico; soporte tecnico; de parte de;
      bienvenido|bienvenida a; gracias por llamar a; ha llamado a; linea de (atencion|soporte|ayuda); buenos|buenas
      dias|tardes|noches .. tienda|clinica|banco|seguros|viajes|agencia|compania|empresa|consultorio|soporte|
      atencion|servicio|telefonia|aerolinea; departamento de .. le|habla; soy .. en que|como|y sere; le atiende; !
      con quien|quién hablo; ! no soy; ! soy consciente; ! soy yo; te (habla|atiende|saluda|asiste|llamo|hablo);
      esta|estas llamando a|al; hola|buenas|dias|tardes|noches|dia|alo .. taxis|gimnasio|farmacia|taller|hotel|
      restaurante|dentista|dental|fontaneria|optica|academia|clinica|tienda|banco|seguros
    `,
    unhappy: `
      molest*; enojad*; enfadad*; furios*; indignad*; indignante; inaceptable; ridiculo; ridicula; terrible;
      horrible; pesimo; pesima; asco; decepcionad*; decepcion; decepcionante; frustrad*; frustrante; hart*; cansad*
      de; estoy (muy|bien|tan) cansad*|molest*|preocupad*|nervios*|desesperad*; queja; quejas; quejar*; reclam*;
      denuncia*; descontent*; insatisfech*; no [me] (funciona|funcionaba|funcionan|sirve|sirven|llego|llega|llegan|
      ha llegado|han llegado|recibi|he recibido|aparece|puedo creer|es justo|me parece|responden|contestan|contesta|
      llamaron|vino|vinieron|anda|carga|prende|enciende|abre|hay|hacen|resuelven|solucionan|esta); nadie (me|ha|nos|
      viene|vino|responde|contesta|llama|llamo|hace|ayuda|sabe|da|aparecio|llego|atiende|soluciona); todavia|aun no|
      sigo|estoy|espero|nada; sigue sin|igual|fallando; sigo (sin|esperando); sin (internet|servicio|luz|agua|
      respuesta|senal|conexion|linea|gas|solucion); llevo (ya|mas|esperando) (#|dos|tres|cuatro|cinco|una|un|de|
      dias|semanas|horas|media|toda|todo|varios|varias|mucho|casi|desde|meses); hace (#|dos|tres|una|dias|semanas|
      varios|varias|mas) .. esperando|espero|que; me cobraron (dos|doble|de|mas|un|algo|el|lo|demasiado|otra); me
      [estan] cobrando; cobro (doble|duplicado|indebido|que no|de mas); doble cobro; cobraron .. veces|doble|mas|no;
      dos veces; segunda|tercera|cuarta|quinta|enesima vez; otra vez .. lo mismo|no|sin|el; siempre (es|lo|pasa|hay|
      me); cada vez que; roto; rota; danad*; defectuos*; estropead*; averiad*; averia; perdieron; perdido; perdi;
      estafa*; robo; robaron; robando; enganan|enganaron|engano; mentira*; mintieron; vergonzoso; verguenza; no [lo|
      la|le] (puedo|voy) (creer|aguantar|tolerar); es el colmo; el colmo; mala atencion|calidad|experiencia; mal
      servicio; malisim*; falta de respeto; faltan al respeto; groser*; devuelvan* [mi] [dinero]; quiero mi dinero;
      mi dinero; perdida de tiempo; perdiendo .. tiempo; equivocad*; pedido equivocado; talla equivocada; otro
      (producto|color|modelo); (muy|tan|demasiado|llego|llegan|llegaron|siempre) tarde; retras*; demor*; preocupad*;
      preocupa; angustiad*; nervios*; asustad*; desesperad*; desastre; urgente; urgencia; cambiar* de compania|
      empresa|banco; me voy a (otra|cambiar|dar); no es posible que; no puede ser; prometieron; me dijeron [que];
      cortaron; se corta; se cae; ! sin problema; ! mas tarde; ! buenas tardes; maleducad*; hasta (las narices|el
      gorro|la coronilla); burla; pesimo|mal trato; ! numero equivocado|errado; ! equivocad* de numero
    `,
    empathy: `
      lo siento [mucho|muchisimo]; siento mucho|muchisimo; siento .. error|molestia*|retraso|inconveniente*|
      ocurrido|pasado|situacion; lo sentimos; lamento; lamentamos; disculp*; le (pido|ofrezco|ofrecemos|pedimos) ..
      disculpas|perdon; mis disculpas; perdon [por]; perdone (por|la|las|el|los); entiendo (perfectamente|
      completamente|muy|su|que|como|la|lo|totalmente); lo (entiendo|comprendo); comprendo (perfectamente|
      completamente|muy|su|que|como|la|lo|totalmente); entendemos; comprendemos; le (entiendo|comprendo); no se
      preocupe; no te preocupes; descuide; tranquil*; me imagino; imagino (que|lo|como); se que (es|esto|debe); debe
      (ser|haber|de) .. frustrante|dificil|molesto|incomodo; es (muy|comprensible|totalmente|normal) (frustrante|
      comprensible|molesto|desagradable|que|logico); gracias por [su|tu] (paciencia|esperar|avisar|informar*|
      contar*|decir*); agradezco|agradecemos [mucho] [su|tu] paciencia; molestia|molestias ocasionad*|causad*; las
      molestias; los inconvenientes; el inconveniente; el mal (rato|momento); tiene (toda|usted) [la] razon; tiene
      usted toda; en su lugar; esta en su derecho; su (molestia|frustracion|preocupacion|enojo|inquietud|enfado|
      malestar); nuestro error; (es|fue) culpa nuestra; error nuestro; no deberia [haber] (pasado|ocurrido|haber|
      suceder|pasar); que pena; me apena; valoramos su; ! lo siento pero; ! disculpe que|pero; ! perdone pero; !
      disculpe no; ! disculpe [usted] (me|con|cual|su); ! lo siento no; ! no le entiendo; ! tranquilo|tranquila que;
      ! la molestia de leer; te (entiendo|comprendo|pido|pedimos|ofrezco) [perfectamente|mil|una|disculpas|perdon];
      entiendo tu; siento lo (ocurrido|sucedido|pasado|que); tu (molestia|frustracion|preocupacion|enojo|inquietud|
      enfado|malestar); tienes [toda] [la] razon; ! no te entiendo
    `,
    understanding: `
      es lo que .. (querias|queria|quiere|quieres|necesita|necesitas|buscaba|pedia); misma pagina; digame|dime con sus|tus palabras; que me repita|repitas;
      lo tengo bien; es asi|eso; estamos [de acuerdo|claros]; entendi* bien; repito; me sigue|sigues; se entiende; asi quedamos|es; a ver si (entendi*|lo|te|le); o sea que (usted|quiere|necesita|le|te|el|la); le leo; repaso; todo (claro|correcto|bien anotado); quedamos en; recapitul*; verdad que; si no entendi mal;
      es correcto; correcto; esta [todo] (claro|bien|correcto|de acuerdo); quedo (todo|claro) [claro]; queda claro; me
      (explico|explique|hago entender); me entiende; entendi (bien|correctamente); si [le]
      (entendi|entiendo|comprendi|he entendido) (bien|correctamente); entonces
      (usted|lo|su|el|la|desea|quiere|le|me|confirmo|quedamos|seria|confirmamos|serian); para confirmar; para
      (asegurar*|verificar|resumir|estar seguro); confirmo (que|entonces|los|sus|su|la|el|para); le confirmo;
      confirmemos; repito; le repito; permitame (repetir*|confirmar*|verificar|resumir|corroborar); repasemos;
      resumiendo; en resumen; de acuerdo; le parece (bien|si|correcto|adecuado); le (conviene|queda bien|sirve|viene
      bien|funciona|acomoda|va bien); le parece; es asi; esta [usted] de acuerdo; comprendo que
      (usted|su|desea|quiere|necesita|lo); entiendo que (usted|su|desea|quiere|necesita|lo); te (parece|conviene|queda
      bien|sirve|viene bien|va bien); [ha] quedado [todo] claro; te queda claro
    `,
    next_step: `
      en [las|los|un|una|el|unas|unos] (proximas|proximos|siguientes|plazo|maximo|menos|aproximadamente) (de|#|dos|
      tres|cinco|veinticuatro|cuarenta|horas|dias|minutos|un|una|media|unos|unas); en # [a #] (horas|minutos|dias|
      semanas); en (un|una|dos|tres|cuatro|cinco|diez|quince|veinte|treinta|media|cuarenta) [y] (ocho|cinco) (horas|
      hora|minutos|dias|semanas|plazo); dentro de (las|los|#|un|una|dos|tres|cinco|diez); plazo [maximo] de; antes
      [de|del] (las|los|manana|lunes|martes|miercoles|jueves|viernes|sabado|domingo|#|mediodia|fin|que termine);
      (hoy|manana|pasado) (mismo|manana) (a|por|en|antes|entre|se|al|le|de) (las|la|el|tarde|noche|manana|mediodia|
      mismo); hoy mismo; manana (mismo|temprano); (el|este|proximo|para el|del|al) lunes|martes|miercoles|jueves|
      viernes|sabado|domingo; le|te (llamare|llamaremos|escribire|avisare|avisaremos|enviare|enviaremos|llegara|
      contactare|contactaremos|informare|informaremos|notificaremos|mandare|mandaremos|estare|confirmare|devolvere|
      enviamos|envio|mando); lo|la (llamare|llamaremos|contactare|contactaremos|visitara|llamara|contactara); yo
      (mismo|misma) .. llamo|llamare|llamo|contacto; recibira; le llegara; va a (recibir|llegar*); se comunicara; me
      comunicare; nos comunicaremos; mensaje de (texto|confirmacion|whatsapp); (un|por|al|el) (sms|correo|mensaje|
      whatsapp|email); correo (de|con) (confirmacion|los|el|la); correo electronico; numero de (caso|reporte|
      reclamo|seguimiento|guia|ticket|referencia|solicitud|confirmacion|folio|gestion|expediente|reserva|orden|cita|
      rastreo|tramite|incidencia) [es]; (el|un|nuestro|la|una) (tecnico|mensajero|repartidor|especialista|asesor|
      ejecutivo|supervisor|ingeniero|perito|gestor|doctor|doctora|asesora|equipo) .. (llegara|ira|visitara|llamara|
      contactara|pasara|acudira|estara|va|se comunicara|revisara); (cita|turno|entrega|visita|reserva) .. (queda|
      quedo|para|es|sera|agendad*|confirmad*|programad*) (el|para|agendad*|confirmad*|programad*|manana|a|las); (a|
      de|entre|hasta) [las|la] #|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce; # [a #] horas|dias|
      minutos; (dos|tres|cinco|diez|siete|quince|siete|cuatro|veinticuatro|cuarenta y ocho) (a|o) (tres|cinco|siete|
      diez) (dias|horas|minutos); dias habiles|laborables|laborales; horas habiles; si .. no .. (llamenos|llame|
      escribanos|avise|comuniquese|contactenos); a partir de (hoy|manana|este|ahora|la|el); quedamos (en|asi|para|
      entonces); siguiente paso; le espero|esperamos; # de (enero|febrero|marzo|abril|mayo|junio|julio|agosto|
      septiembre|octubre|noviembre|diciembre); proximo paso; permanezco en; me quedo en .. linea; el dia de (hoy|
      manana); esta [misma] (tarde|noche|semana)
    `,
    further_help: `
      (le|te|les) hace falta (algo|alguna); (le|te|les) (falta|preocupa) (algo|alguna) [otra]; alguna cosita mas;
      queda|falta (alguna|otra|algo) [otra] cosa|duda|mas; te queda|falta alguna; algun otro tema; en otra cosa; ! eso es todo (correcto|bien|lo que);
      algo mas [en] (que|en|hoy); hay algo mas; alguna otra (cosa|consulta|duda|pregunta|inquietud|gestion|
      solicitud); otra (consulta|duda|pregunta|cosa|inquietud|gestion) [mas|en]; algun otro (asunto|tema|servicio|
      tramite); alguna (duda|pregunta|consulta|inquietud) (mas|adicional); en que mas; [que] mas [le|en] (puedo|que|
      podemos) (ayudar*|puedo|servir*); le puedo ayudar (en|con) (algo|otra|alguna); puedo ayudar* (en|con) (algo|
      otra|alguna) [mas]; tiene (alguna|otra|mas) (duda|dudas|pregunta|preguntas|consulta|otra); mas (dudas|
      preguntas|consultas); necesita (algo|alguna|otra) (mas|otra|cosa); desea (algo|alguna) (mas|otra|cosa); eso
      (seria|es) todo; cualquier (duda|cosa|consulta|otra|pregunta|inconveniente|inquietud); no dude en; necesitas|
      deseas|quieres (algo|alguna) (mas|otra|cosa); se le|te ofrece (algo|alguna); te puedo ayudar (en|con) (algo|
      otra|alguna); tienes (alguna|otra|mas) (duda|dudas|pregunta|consulta); algo mas; ! algo mas de|barato|barata|
      caro|cara|tarde|temprano|grande|pequeno|largo|corto|economico|economica|rapido|lento
    `,
    farewell: `
      vaya|vayan|ve con dios; un (beso|abrazo|beso a|besito); besos; besitos; besito; chaucito; chau chau; hasta la vista; buena suerte; suerte con; que dios; que descanse; recuerdos a; saludos a; cuidese mucho;
      adios; hasta luego|pronto|manana|entonces|siempre; que (tenga|tengas|pase|le|este|disfrute|termine|se mejore|
      descanse|tengan) (un|una|muy|buen|excelente|lindo|linda|feliz|buena|bonito|bonita|vaya|bien|usted|de|su|
      mucho); (buen|excelente|feliz|lindo|bonito|buena) (dia|tarde|noche|fin|viaje|semana|jornada); feliz (dia|
      tarde|noche|fin|viaje); gracias por (llamar|comunicarse|contactar*|preferir*|elegir*|su|confiar); cuidese;
      chao; chau; nos vemos; le deseo; le deseamos; un (gusto|placer) (haberle|atender*|ayudar*|haber*|hablar); ha
      sido un (placer|gusto); fue un (placer|gusto); a la orden; estamos para servirle|ayudarle|servirlo; saludos;
      suerte; buenas noches; buenas tardes (senor|senora|y|hasta); que este [muy] bien; que se mejore; hasta la
      proxima; que le vaya; ! buenas tardes|noches (habla|le|soy|mi|bienvenid*|gracias|en); ! gracias por [su]
      (paciencia|esperar|nada); cuidate; un saludo; que te (vaya|mejores); de nada .. adios|chao|chau|hasta|feliz;
      de nada .. que tenga|pase|este|le|tengas|te; no hay problema|de que .. adios|chao|hasta|que; no se|te
      preocupe|preocupes .. adios|chao|hasta
    `,
    abuse: `
      idiota*; imbecil*; estupid*; tarad*; tont*; pendej*; cabron*; gilipollas; mierda; puta; puto; hijo de puta;
      vete|vayase al|a diablo|infierno|mierda|carajo; callese; callate; cierre la boca; cierra la boca; bruta;
      bruto; burra; burro; es usted un (inutil|ignorante); ignorante; maldit*; cretin*; mongol*; subnormal;
      retrasad* mental; payas*; joder; jodase; boba; bobo; vieja (loca|estupida|tonta); ! no es usted tont*|inutil;
      ! me llam* .. idiota|tont*; ! me diga .. idiota|tont*|inutil; ! tonteria*; ! es (inutil|tonto) (que|seguir); !
      cambiar* el tonto
    `,
    rudeness: `
      que quiere (usted|ahora|que haga|que le); que es lo que quiere; y a mi que; y que quiere; a mi que [me]; no me
      importa; me da igual; que mas da; no es mi (problema|culpa|asunto); es su problema; ese es su problema;
      problema suyo; no me (grite|interrumpa|haga perder|moleste|diga|venga|discuta|grites|interrumpas|hagas perder|
      molestes|digas|vengas|discutas); no (grite|moleste|llore|insista|exagere); deje de (gritar|molestar|quejarse|
      llamar|llorar|insistir); calmese; apurese; rapido (que|por|senora|senor|digame); dese prisa; estoy ocupad*; no
      tengo (todo el|tiempo); me hace perder; perder mi tiempo; (es|esta) [usted] sord*; no [me] (entiende|escucha)
      (usted|o|lo que|acaso); no sabe leer; no sabe usted; aprenda a; ya (le|se lo|te) (dije|he dicho|explique|lo
      dije|repeti); cuantas veces; [se] lo (repito|dije) ya; otra vez usted; que pesad*; que fastidio; que lata;
      dios mio; por dios; ay (por|dios|senora|senor|no); (voy a|le voy a) colgar; le cuelgo; cuelgo; no (vuelva a|
      llame mas|me llame); si no le|te gusta; ! si no le|te gusta .. puede|puedes|podemos|tiene|tienes|cambi*|
      devol*|devuelv*; quejese (donde|con|a|usted); haga lo que (quiera|le|se le); como quiera usted; ya digame
      (que|de una|rapido); tengo (mas|otros) (clientes|cosas|llamadas|gente); hay (mas|otros|mucha) (clientes|gente|
      personas) [esperando]; no es [el|la] unic*; es la hora de|mi (almuerzo|salida); ni que fuera; que culpa tengo;
      y yo que (culpa|se|hago|puedo|quiere); pues (que|no|espere|mala|llame|aguante); mala suerte; ni modo; y bueno;
      que le vamos; asi es la vida; no sea (ridicul*|pesad*|exagerad*); que exagerad*; aguantese; apañeselas;
      apaneselas; me tiene hart*; que mas quiere; y ahora que; ! calmese .. por favor; ! y que (numero|modelo|dia|
      hora|fecha|tipo|luz|color|mensaje|le|plan|direccion|error|problema); ! como guste .. con gusto; ! que quiere
      decir; ! y que .. aparece|ve|dice; ! que es lo que quiere (cambiar|contratar|saber); (eres|estas) sord*;
      calmate; haz lo que (quieras|te); no te importa; deja de (gritar|molestar|quejarte|llamar|llorar|insistir);
      que quieres que (haga|te|le); quejate; pobrecit*; ! calmate .. por favor
    `,
  },
  cues: {
    problem: `
      quiero; quisiera; necesito; me gustaria; deseo; queria; tengo (un|una|unos|el|mi|problemas) (problema|duda|
      consulta|pregunta|pedido|cargo|cobro|inconveniente|reserva|cita|queja); llamo (por|para|porque|de|a); le
      llamo; estoy llamando; no puedo; no me (funciona|llego|ha|deja|llega|han|reconoce); no funciona|sirve|tengo|
      llego|hay|ha llegado; compre; pedi; hice un|una; pague; perdi; me (cobraron|llego|enviaron|robaron|aparece|
      dijeron|interesa|han|bloquearon); mi .. (no|esta|llego|se|fue|tiene); hay [un|una] (problema|error|cargo|
      cobro); puede|podria (ayudarme|decirme|usted); donde esta (mi|el)
    `,
    question: `
      que; como; cuando; donde; adonde; por que; quien; cual; cuales; cuanto; cuantos; cuanta; cuantas; puede;
      podria; me puede|podria|puede|permite|confirma|indica; le parece; desea; quiere; tiene; hay algo; algo mas; en
      que; para que; desde cuando; con quien; a que
    `,
    question_end: 'verdad; cierto; correcto; no; de acuerdo; le parece; si',
    hold: `
      un momento|segundo|minuto|momentito|segundito|minutito; en espera|linea; permanezca|permanece|quedese|quedate en; no cuelgue|cuelgues; espere|espera|esperar|esperarme|aguarde|aguarda; dame|deme un
    `,
    serving: `
      en que .. (puedo|podemos) .. (ayudar*|servir*|atender*); en que le|te; gracias por llamar|comunicarse|contactar*; le|te atiende|habla|saluda; ha llamado a; bienvenido|bienvenida a; atencion al cliente; servicio al|tecnico; digame su|el; me|podria indica|da|facilita|dice .. (numero|nombre|dni|apellido*); a nombre de quien; con quien hablo|tengo; su numero de (cliente|contrato|cuenta|pedido); apellido; le puedo ayudar
    `,
    reports: `
      el|ella|ellos|companero|companera|jefe|jefa|tecnico|mensajero|repartidor|medico|doctor|doctora|vecino|vecina|
      marido|mujer|hijo|hija|madre|padre|cliente|clienta|senor|senora|chico|chica|director|directora|vendedor|
      alguien .. (dijo|dice|dijeron|dicen|grito|grita|contesto|contesta|respondio|
      escribio|escribe|pregunto|llamo|solto); (me|le|te|nos|les) (dijo|dijeron|dice|dicen|contesto|contestaron|solto|
      grito|escribio); segun (el|ella|ellos|dice|dijo|su|la); en la carta pone|dice; cito; textualmente; palabras
      textuales
    `,
    reported: 'dice|dijo (el|ella)',
    then_name: `
      habla; le|te habla|atiende|saluda|asiste|escucha; aqui; aca; por aqui; habla|hablas|hablando con; operador|
      operadora|asesor|asesora|agente|ejecutivo|ejecutiva|consultor|consultora|gestor|gestora
    `,
    name_then: `
      al aparato|habla|telefono; a su servicio; a sus ordenes; para servirle|servirte|ayudarle|ayudarte|atenderle; en
      linea; le|te atiende|habla|saluda|escucha|asiste; de atencion|soporte|servicio
    `,
    name_apart: 'digame; dime; cuenteme; cuentame; le|te escucho',
  },
  topics: {
    refund: 'reembols*; devolucion|devoluciones; devolver* .. dinero; devuelvan; mi dinero; reintegro',
    cancellation: 'cancel*; anular*; anul*; dar de baja; darme de baja; rescindir; la baja',
    complaint: 'queja*; quejar*; reclam*; denuncia*; supervisor*; gerente; consumidor; mala atencion',
    delivery: `
      envio; envios; entreg*; paquete*; repartidor*; mensajer*; correos; guia; rastreo; despach*; domicilio;
      reparto; courier; seguimiento .. paquete|pedido|envio
    `,
    order: `
      pedido|pedidos; orden|ordenes; compra|compre|compras|compro; carrito; ! orden de (trabajo|servicio); ! a la
      orden; ! a sus ordenes
    `,
    billing: `
      factur*; cobr*; cargo|cargos; recibo; recibos; cuota*; tarifa*; importe; comision*; estado de cuenta; !
      cobrador
    `,
    payment: 'pago|pagos|pagar|pague|pagado|pagué; deuda*; mensualidad*; vencimiento; cuotas; mora; domiciliacion',
    loan: `
      prestamo*; credito; creditos; hipoteca*; tasa de interes; interes|intereses; financiamiento; ! tarjeta de
      credito
    `,
    card: 'tarjeta*; cajero*; pin; cvv; clave de la tarjeta; ! tarjeta sim; ! tarjeta de regalo',
    account: `
      cuenta|cuentas; contrasena*; usuario; clave; iniciar sesion; acceso; perfil; codigo de verificacion; ! estado
      de cuenta; ! tener en cuenta; ! darse cuenta; ! di cuenta
    `,
    transfer: `
      transferencia*; transferi*; beneficiario; giro; destinatario; clabe; iban; ! transferir* [la|su] llamada
    `,
    insurance: `
      seguro .. (de|auto|coche|hogar|vida|medico|cubre); poliza*; siniestro*; cobertura*; asegurad*; aseguradora;
      choque; perito
    `,
    fraud: `
      fraude*; estafa*; robaron; robo; sospechos*; no reconozco; clonad*; suplant*; hackea*; no hice .. (compra|yo)
    `,
    internet: 'internet; wifi; wi fi; router; modem; conexion; velocidad; fibra; senal; banda ancha; red; navega*',
    mobile: `
      sim; chip; roaming; linea movil; celular; plan de datos; datos moviles; gigas; recarga*; portabilidad; minutos
      .. plan; numero de linea
    `,
    technical: `
      no funciona; error*; falla|fallas|fallo; averia*; aplicacion; app; reinici*; actualiz*; tecnico; tecnica;
      instal*; configur*; dispositivo*; pantalla; reparacion*; equipo; software
    `,
    appointment: `
      cita|citas; turno|turnos; doctor*; medico; consulta medica|con; clinica*; agendar; reprogramar; especialista;
      dentista; horario disponible; analisis
    `,
    price: `
      precio*; costo*; coste; cuesta; descuento*; oferta*; promocion*; caro; barato; cuanto cuesta|vale|sale; cupon;
      presupuesto; cotizacion
    `,
    product: `
      producto*; articulo*; talla*; color; modelo; calidad; defectuos*; garantia*; cambio; zapat*; disponible en;
      existencias
    `,
    documents: `
      documento*; contrato*; certificado*; firma; pasaporte; formulario; carta; comprobante*; cedula; dni;
      constancia
    `,
    travel: `
      vuelo*; boleto*; hotel*; viaje*; equipaje; maleta*; aerolinea; reserva|reservas|reservacion; pasajero*;
      aeropuerto; tour; habitacion; visado
    `,
    employment: 'vacante*; curriculum; entrevista; sueldo; salario; empleo*; contratacion de personal',
    health: `
      sintoma*; dolor|dolores|duele; fiebre; receta*; medicamento*; medicina*; farmacia*; hospital*; enfermer*;
      ambulancia*; vacuna*; embaraz*; cirugia*; tratamiento*
    `,
    utilities: `
      electricidad; corte* de luz|agua|gas; sin luz|agua|gas|calefaccion; agua caliente; calefaccion; medidor*;
      contador*; caldera*; alcantarillado; recibo de luz|agua
    `,
    safety: `
      peligro*; fuga de gas; olor|huele a gas|humo|quemado; humo; incendio*; fuego; chispa*; descarga electrica;
      evacua*; emergencia*; herido*
    `,
    lost_property: `
      objetos perdidos; olvide|deje|perdi .. bolso|bolsa|cartera|billetera|paraguas|mochila|llaves|maleta
    `,
  },
  negations: {
    before: 'no; nunca; jamas; tampoco; ni; sin; imposible; nadie; ningun; ninguna; nada',
    after: '',
  },
};
